import AppSimulator
import Testing

@Suite("The commands to a reader") struct LibraryCommandTests {
    @Test(
        "A line is a command",
        arguments: [
            ("library", LibraryCommand.library), (" open ", .open(product: nil)),
            ("open issue7", .open(product: "issue7")),
            ("network cellular", .network(.cellular)), ("activate", .activate), ("list", .list), ("quit", .quit),
            ("wait downloaded 2 10", .wait(.downloaded, count: 2, seconds: 10)),
        ]
    )
    func commands(line: String, command: LibraryCommand) throws {
        #expect(try LibraryCommand(parsing: line) == command)
    }

    @Test(
        "A line that is none says what is right",
        arguments: [
            ("network", "this is 'network wifi|cellular|none': changes the network from now on"),
            ("network lan", "'lan' is not one of wifi, cellular, none"),
            ("opne", "unknown command 'opne': 'help' lists all"),
            ("library x", "this is 'library': the issues: mark, number, title, date, state, size, grounds"),
        ]
    )
    func mistakes(line: String, message: String) {
        let error = #expect(throws: CommandError.self) { try LibraryCommand(parsing: line) }
        #expect(error?.description == message)
    }

    @Test("Empty lines and comments are no commands, and events of a simulated app are no events of a reader")
    func others() throws {
        #expect(try LibraryCommand(parsing: "") == nil)
        #expect(try LibraryCommand(parsing: "# x") == nil)
        #expect(throws: CommandError.self) { try LibraryCommand(parsing: "wait screen") }
        #expect(throws: CommandError.self) { try PhoneCommand(parsing: "wait downloaded") }
        #expect(LibraryCommand.helpText.contains("Events: connected, registered"))
    }
}
