import Foundation
import ProviderAPI
import PushTesting
import Testing

@testable import martlet

/// The settings file: names that no setting has, values of another form, and text that is no JSON.
@Suite struct SettingsFileTests {
    /// Reads a text as a settings file.
    private func read<Value>(_ text: String, _ body: (String, SettingsReader) throws -> Value) async throws -> Value {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/martlet.json"
            try text.write(toFile: path, atomically: true, encoding: .utf8)
            return try body(path, try await SettingsReader(file: path, environment: [:]))
        }
    }

    /// Returns the text and the status of the error that a settings file ends the start with.
    private func error(_ text: String) async throws -> SettingsError? {
        do {
            try await self.read(text) { _, settings in
                _ = try? ServeCommand.configuration(settings)
                try settings.check()
            }
            return nil
        } catch let error as SettingsError {
            return error
        }
    }

    @Test(arguments: [
        (
            #"{"serve":{"sandboxservice":"localhost:2197"}}"#,
            "no setting serve.sandboxservice: did you mean serve.sandboxService?"
        ),
        (#"{"serve":{"sandbox":"localhost:2197"}}"#, "no setting serve.sandbox"),
        (#"{"server":{"port":1}}"#, "no setting server: did you mean serve?"),
        (#"{"serve":{"page":1}}"#, "did you mean serve.dispatch.page?"),
        (#"{"serve":{"dipsatch":{"page":1}}}"#, "no setting serve.dipsatch: did you mean serve.dispatch?"),
        (#"{"completely":{"different":1}}"#, "no setting completely"),
        (#"{"serve":8080}"#, "serve is a group of settings: its value must be an object"),
        (#"{"serve":{"port":{"number":1}}}"#, "serve.port: this must be a whole number"),
        (#"{"serve":{"port":"x"}}"#, "serve.port: this must be a whole number"),
        (#"{"serve":{"host":1}}"#, "serve.host: this must be a text"),
        (#"{"serve":{"compatibility":{"doors":[1]}}}"#, "doors: this must be an array of texts"),
        (#"{"serve.port":1}"#, #"serve.port is written as nested objects: {"serve":{"port":…"#),
        (#"{"":1}"#, "no setting"), ("[]", "this must be a JSON object"),
        ("", "line 1, column 1: this is not valid JSON"),
        ("{\n  \"serve\": {\n    \"port\": 1,\n  }\n}", "line 4, column 3: this is not valid JSON in UTF-8"),
        ("\u{0}", "line 1, column 1"),
    ])
    func aWrongFileEndsTheStartAndTheErrorNamesWhat(text: String, part: String) async throws {
        let error = try #require(try await self.error(text), "\(text)")
        #expect(error.description.contains(part), "\(text): \(error)")
        #expect(error.status == .usage)
    }

    @Test func allUnknownNamesAreReportedTogether() async throws {
        let error = try await self.error(#"{"a":1,"gateway":{"b":2},"log":{"levle":"info"}}"#)
        let text = try #require(error?.description)
        #expect(text.split(separator: "\n").count == 3)
        #expect(text.contains("no setting gateway.b") && text.contains("did you mean log.level?"))
    }

    @Test func settingsOfOtherCommandsAndNullsAreFine() async throws {
        let text = #"{"serve":{"port":null,"host":"::1"},"gateway":{"strict":true},"device":{"topics":["a"]}}"#
        try await self.read(text) { _, settings in
            let configuration = try ServeCommand.configuration(settings)
            #expect(configuration.host == "::1" && configuration.port == 8080)
            try settings.check()
        }
    }

    @Test func aFormerKeyStillWorksAndTheNewOneWins() async throws {
        try await self.read(#"{"send":{"server":"http://a:1"}}"#) { _, settings in
            #expect(settings.text(APISettings.server) == "http://a:1")
        }
        try await self.read(#"{"api":{"server":"http://b:1"},"send":{"server":"http://a:1"}}"#) { path, settings in
            #expect(settings.text(APISettings.server) == "http://b:1" && settings.file == path)
        }
    }

    @Test func aFileThatCannotBeReadIsNamed() async {
        let missing = await failure { _ = try await SettingsReader(file: "/nowhere/martlet.json", environment: [:]) }
        #expect(missing?.contains("/nowhere/martlet.json cannot be read") == true)
        let directory = await failure { _ = try await SettingsReader(file: "/", environment: [:]) }
        #expect(directory?.contains("/ cannot be read") == true)
    }
}
