import MartletKit
import Testing

@testable import AppSimulator

@Suite("Commands to the simulator") struct PhoneCommandTests {
    @Test(
        "Each line is read as its command",
        arguments: [
            ("list", .list), ("  open  ", .open(nil)), ("open 3", .open(3)), ("dismiss", .dismiss(nil)),
            ("dismiss 2", .dismiss(2)),
            ("action 1 REPLY On my  way", .action(1, id: "REPLY", text: "On my  way")),
            ("action 1 DELETE", .action(1, id: "DELETE", text: nil)), ("convert", .convert(name: nil)),
            ("convert bought it", .convert(name: "bought it")), ("background", .background),
            ("foreground", .foreground),
            ("badge 0", .badge(0)), ("login a.b.c", .login(proof: "a.b.c")), ("logout", .logout),
            ("reinstall", .reinstall),
            ("optout news", .optOut("news")), ("optin news", .optIn("news")),
            ("quiet 22:00 07:00", .quiet(.init(from: "22:00", to: "07:00"))), ("quiet off", .quiet(nil)),
            ("deny alerts", .deny(.alert)), ("allow background", .allow(.background)),
            ("wait shown", .wait(.shown, count: 1, seconds: 30)),
            ("wait receipts 2 5", .wait(.receipts, count: 2, seconds: 5)),
            ("flush", .flush), ("status", .status), ("stay", .stay), ("help", .help), ("quit", .quit),
            ("exit\r", .quit),
        ] as [(String, PhoneCommand)]
    )
    func parsing(line: String, command: PhoneCommand) throws {
        #expect(try PhoneCommand(parsing: line) == command)
    }

    @Test("Empty lines and comments are no commands", arguments: ["", "   ", "# open 1", "#"])
    func nothing(line: String) throws { #expect(try PhoneCommand(parsing: line) == nil) }

    @Test(
        "Each mistake says what the command takes",
        arguments: [
            ("opne", "unknown command 'opne': 'help' lists all"),
            ("open x", "'x' is not the number of a notification: 'list' shows them in brackets"),
            ("open 0", "'0' is not the number of a notification: 'list' shows them in brackets"),
            ("open 1 2", "this is 'open [N]': opens notification N, or the newest"),
            (
                "action 1",
                "this is 'action N ID [TEXT]': chooses an action of notification N, with a text if it asks for one"
            ),
            ("badge -1", "'-1' is not a number of 0 or more"), ("quiet 22:00", "this is 'quiet FROM TO'"),
            ("quiet 24:00 07:00", "'24:00 07:00' are not two different times from 00:00 to 23:59"),
            ("quiet 7:00 08:00", "'7:00 08:00' are not two different times from 00:00 to 23:59"),
            ("quiet 07:00 07:00", "'07:00 07:00' are not two different times from 00:00 to 23:59"),
            ("deny everything", "'everything' is not one of alerts, badge, sound, background"),
            ("login", "this is 'login USER-PROOF'"),
            ("wait", "this is 'wait EVENT"), ("wait sunset", "'sunset' is not an event: use connected"),
            ("wait shown 0", "'0' is not a number from 1 to 100000"),
            ("wait shown 1 0", "'0' is not a number from 1 to 3600"),
            ("list all", "this is 'list'"),
        ]
    )
    func mistakes(line: String, message: String) {
        let error = #expect(throws: CommandError.self) { try PhoneCommand(parsing: line) }
        #expect(error?.description.hasPrefix(message) == true)
    }

    @Test("The help has every command that can be read")
    func help() throws {
        for usage in PhoneCommand.usage {
            let name = try #require(usage.words.split(separator: " ").first)
            let error = #expect(throws: CommandError.self) {
                _ = try PhoneCommand(parsing: "\(name) 1 2 3 4 5")
                throw CommandError("")
            }
            #expect(error?.description.hasPrefix("unknown") == false)
        }
        #expect(PhoneCommand.helpText.contains("\n  open [N]  "))
    }
}
