"""What instance allocators are asked, and what they answer (Ganeti 3.0 allocator table)."""
