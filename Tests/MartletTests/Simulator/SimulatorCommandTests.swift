import AppSimulator
import Foundation
import PushTesting
import Testing

@testable import martlet

@Suite("The command martlet simulator") struct SimulatorCommandTests {
    private static let usual = ["simulator", "--app", "com.example.MyApp", "--public-key", "mk_public_x"]

    @Test(
        "A mistake in what it is given has the status 64 and names it",
        arguments: [
            (["--", "opne"], "the arguments after --, command 1: unknown command 'opne': 'help' lists all"),
            (["--gateway", "a:b"], "simulator.gateway: 'a:b' is no HOST:PORT"),
            (["--provider", "localhost"], "simulator.provider: 'localhost' is no URL such as http://127.0.0.1:8080"),
            (["--provider", "http://push.example.com"], "the provider needs an https URL"),
            (["--public-key", "mk_secret"], "an app has a public key, mk_public_…"),
            (["--time-zone", "Mars"], "simulator.timeZone: 'Mars' is no time zone such as Europe/Berlin"),
            (["--environment", "test"], "simulator.environment: 'test' is none of"),
        ]
    )
    func mistakes(words: [String], message: String) async throws {
        let error = await #expect(throws: SettingsError.self) { try await martlet(Self.usual + words) }
        #expect(error?.status == .usage)
        #expect(error?.description.hasPrefix(message) == true, "\(error?.description ?? "")")
    }

    @Test("A file of rules or categories that is none is named, before anything is done")
    func files() async throws {
        try await withTemporaryDirectory { directory in
            let file = "\(directory)/file.json"
            try "{}".write(toFile: file, atomically: true, encoding: .utf8)
            for (flag, message) in [
                ("--routes", "simulator.routes: the rule file cannot be used"),
                ("--categories", "simulator.categories: the file must be an array"),
            ] {
                let error = await #expect(throws: SettingsError.self) { try await martlet(Self.usual + [flag, file]) }
                #expect(error?.status == .usage && error?.description.hasPrefix(message) == true)
            }
            let script = "\(directory)/script"
            try "list\n# a comment\n\nopen x\n".write(toFile: script, atomically: true, encoding: .utf8)
            let error = await #expect(throws: SettingsError.self) {
                try await martlet(Self.usual + ["--script", script])
            }
            #expect(error?.description.hasPrefix("--script, line 4: 'x' is not the number of a notification") == true)
        }
    }

    @Test("An event is a line with its name, and what comes from outside cannot look like one")
    func printing() {
        let event = SimulatorEvent(.shown, ["[1] Hello\nopened      [2]", "\u{1b}[31mred"])
        #expect(
            SimulatorPrinter.text(event)
                == "shown       [1] Hello\n            opened      [2]\n            �[31mred"
        )
    }
}
