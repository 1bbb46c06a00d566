"""Tests of what is offered for the word that is being typed."""

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.cli.completion import values
from ganeti_tx.cli.completion.complete import complete
from ganeti_tx.cli.completion.offer import Candidate, Offer, begun
from ganeti_tx.cli.main import program_named
from ganeti_tx.cli.options import Option
from ganeti_tx.cli.program import Program, load
from ganeti_tx.model.enums import DiskTemplate, Hypervisor

NOUNS = ("backup", "cluster", "debug", "filter", "group", "instance", "job", "network", "node", "os", "storage")


class SomeNames:
    """Two of each kind, whose names tell the kind."""

    def of_kind(self, kind: str) -> list[Candidate]:
        """As INames says."""
        return [Candidate(f"{kind}1"), Candidate(f"{kind}2")]

    def fields(self, resource: str) -> list[Candidate]:
        """As INames says."""
        return [Candidate(f"{resource}.size"), Candidate("name", "The name")]

    def tags(self, kind: str, name: str) -> list[Candidate]:
        """As INames says."""
        return [Candidate(f"tag-of-{kind}-{name}")]


class CompleteCase(SynchronousTestCase):
    """Lines of which the last word is being typed."""

    def offer(self, line: str) -> Offer:
        """For words that blanks separate."""
        program, *words = line.split(" ")
        return complete(program_named(program), words, SomeNames())

    def offered(self, line: str) -> list[str]:
        """The words alone."""
        return [each.word for each in self.offer(line).candidates]


class WordsTests(CompleteCase):
    """Subcommands and options."""

    def test_every_command(self) -> None:
        """Of each program every subcommand, alias and option is offered."""
        for program in every_program():
            found = self.offered(f"{program.name} ")
            self.assertEqual(set(found), {*program.commands, *program.aliases, "--help", "--version"})
            for name, entry in program.commands.items():
                flags = {flag for option in load(entry).options for flag in option.flags}
                self.assertLessEqual(flags | {"--help", "--debug"}, set(self.offered(f"{program.name} {name} -")))

    def test_begun(self) -> None:
        """Only what begins with what is typed, with what it means."""
        self.assertEqual(self.offered("gnt-node modi"), ["modify", "modify-storage"])
        self.assertEqual(
            self.offer("gnt-job canc").candidates,
            (Candidate("cancel", program_named("gnt-job").commands["cancel"].help),),
        )
        self.assertEqual(self.offered("gnt-instance start --paus"), ["--paused"])

    def test_options_end(self) -> None:
        """Behind an argument there are no options; an unknown subcommand has nothing."""
        self.assertEqual(self.offered("gnt-instance startup instance1 -"), [])
        self.assertEqual(self.offered("gnt-instance startup -- "), ["instance1", "instance2"])
        self.assertEqual(self.offered("gnt-instance nosuch "), [])


class NameTests(CompleteCase):
    """Names of the cluster."""

    def test_arguments(self) -> None:
        """Of the kind that stands at this place, none twice, and none where a new one is to be made up."""
        for line, found in (
            ("gnt-instance startup ", ["instance1", "instance2"]),
            ("gnt-instance startup instance1 ", ["instance2"]),
            ("gnt-instance rename instance1 ", []),
            ("gnt-instance add ", []),
            ("gnt-instance list-tags ", ["instance1", "instance2"]),
            ("gnt-instance remove-tags instance1 ", ["tag-of-instance-instance1"]),
            ("gnt-group remove-tags group1 ", ["tag-of-nodegroup-group1"]),
            ("gnt-cluster remove-tags ", ["tag-of-cluster-"]),
            ("gnt-node power on ", ["node1", "node2"]),
            ("gnt-node power o", ["off", "on"]),
            ("gnt-network connect network1 ", ["group1", "group2"]),
            ("gnt-group add ", []),
            ("gnt-group rename group1 ", []),
            ("gnt-job watch ", ["running1", "running2"]),
            ("gnt-job info ", ["job1", "job2"]),
            ("gnt-filter delete ", ["filter1", "filter2"]),
            ("gnt-os modify ", ["os1", "os2"]),
            ("gnt-backup remove ", ["instance1", "instance2"]),
            ("gnt-instance list-fields ", ["instance.size", "name"]),
            ("gnt-job autoarchive ", ["1d", "1w", "4w", "all"]),
        ):
            self.assertEqual(self.offered(line), found, line)

    def test_options(self) -> None:
        """However the value is joined to its option."""
        for line, found in (
            ("gnt-instance migrate -n ", ["node1", "node2"]),
            ("gnt-instance migrate --target-node=node1", ["--target-node=node1"]),
            ("gnt-instance migrate --target=node1", ["--target=node1"]),
            ("gnt-instance migrate -fnnode2", ["-fnnode2"]),
            ("gnt-instance migrate -n node1 ", ["instance1", "instance2"]),
            ("gnt-instance add --node node1:", ["node1:node2"]),
            ("gnt-instance add -o ", ["os1", "os2"]),
            ("gnt-instance add --net 0:network=", ["0:network=network1", "0:network=network2"]),
            ("gnt-node add -g ", ["group1", "group2"]),
            ("gnt-group evacuate --to ", ["group1", "group2"]),
            ("gnt-cluster upgrade --to ", []),
        ):
            self.assertEqual(self.offered(line), found, line)


class ValueTests(CompleteCase):
    """Values that are no names."""

    def test_words(self) -> None:
        """Choices, yes or no, enumerations."""
        self.assertEqual(self.offered("gnt-instance startup --priority "), ["high", "low", "normal"])
        self.assertEqual(self.offered("gnt-instance add -t "), sorted(map(str, DiskTemplate)))
        self.assertEqual(self.offered("gnt-node modify -O "), ["no", "yes"])
        self.assertEqual(self.offered("gnt-group modify --alloc-policy l"), ["last_resort"])
        self.assertEqual(self.offered("gnt-cluster init --enabled-disk-templates plain,dr"), ["plain,drbd"])

    def test_fields(self) -> None:
        """One after the other, none twice."""
        self.assertEqual(self.offered("gnt-instance list -o "), ["instance.size", "name"])
        self.assertEqual(self.offered("gnt-instance list -o +name,"), ["+name,instance.size"])
        self.assertEqual(self.offered("gnt-backup list -o e"), ["export.size"])
        self.assertEqual(self.offered("gnt-node volumes -o node,v"), ["node,vg"])
        self.assertEqual(self.offered("gnt-node list-storage -o +si"), ["+size"])

    def test_parameters(self) -> None:
        """Keys, after a comma those that are not there yet; of switches the two values."""
        self.assertEqual(self.offered("gnt-instance add -H "), sorted(f"{each}:" for each in Hypervisor))
        self.assertEqual(self.offered("gnt-instance add -H kvm:acp"), ["kvm:acpi="])
        self.assertEqual(self.offered("gnt-instance add -H kvm:acpi="), ["kvm:acpi=false", "kvm:acpi=true"])
        self.assertEqual(self.offered("gnt-instance add -H xen-pvm:acp"), [])
        self.assertEqual(self.offered("gnt-instance modify -H acp"), ["acpi="])
        self.assertEqual(self.offered("gnt-instance modify -H migration_m"), [])
        self.assertEqual(self.offered("gnt-instance add -H kvm:migration_m"), [])
        self.assertEqual(self.offered("gnt-cluster modify -H kvm:migration_m"), ["kvm:migration_mode="])
        self.assertEqual(
            self.offered("gnt-instance modify -B maxmem=1,m"), [f"maxmem=1,m{rest}=" for rest in ("emory", "inmem")]
        )
        self.assertEqual(self.offered("gnt-instance modify -B vcpus="), [])
        self.assertEqual(self.offered("gnt-instance add -H kvm:acpi=no,disk_aio=n"), ["kvm:acpi=no,disk_aio=native"])
        self.assertEqual(self.offered("gnt-instance modify -H disk_aio=n"), ["disk_aio=native"])
        self.assertEqual(self.offered("gnt-instance add -H fake:disk_aio="), [])
        self.assertEqual(self.offered("gnt-instance add --net 0:mode=r"), ["0:mode=routed"])
        self.assertEqual(self.offered("gnt-cluster modify -D rbd:access=u"), ["rbd:access=userspace"])
        self.assertEqual(self.offered("gnt-cluster modify -D drbd:resync"), ["drbd:resync-rate="])
        self.assertEqual(self.offered("gnt-instance add --disk 0:siz"), ["0:size="])
        self.assertEqual(self.offered("gnt-instance add --disk 0:fo"), ["0:format="])
        self.assertEqual(self.offered("gnt-instance add --disk 0:format=q"), ["0:format=qcow2"])
        self.assertEqual(self.offered("gnt-instance modify -e "), ["format="])
        self.assertEqual(self.offered("gnt-instance modify -e format=r"), ["format=raw"])

    def test_files(self) -> None:
        """The shell knows them; names of files are offered nowhere else."""
        self.assertTrue(self.offer("gnt-cluster copyfile ").files)
        self.assertTrue(self.offer("gnt-instance add-tags --from ").files)
        self.assertFalse(self.offer("gnt-instance startup ").files)

    def test_destinations(self) -> None:
        """What is known of an option by its destination is about one that there is."""
        there = {option.dest for option in every_option()}
        known = {*values.NAMED, *values.NAMED_LISTS, *values.FILES, *values.KEYS}
        self.assertEqual(known - there, set())

    def test_odd_names(self) -> None:
        """A name that could be on no line is left out."""
        odd = Offer((Candidate("a\nb"), Candidate("a\x1b[2J"), Candidate("a$(x)")))
        self.assertEqual([each.word for each in begun(odd, "a").candidates], ["a$(x)"])


def every_program() -> list[Program]:
    """All gnt-* programs."""
    return [program_named(f"gnt-{noun}") for noun in NOUNS]


def every_option() -> list[Option]:
    """All options of all commands."""
    commands = [load(entry) for program in every_program() for entry in program.commands.values()]
    return [option for command in commands for option in command.options]
