With `use_guest_agent` a shutdown asks the QEMU guest agent inside the guest first, and presses the power button when there is
none. A guest that has neither agent nor ACPI is cut off without waiting.
