import ArgumentParser
import Foundation
import PushTesting
import Testing

@testable import martlet

/// `martlet send` through a provider.
@Suite(.timeLimit(.patience)) struct SendCommandTests {
    private let app = Vectors.bundleID

    /// Returns the status that a command exits with.
    private func status(_ body: () async throws -> Void) async throws -> Int32 {
        do {
            try await body()
            return 0
        } catch let error as ExitCode {
            return error.rawValue
        } catch let error as any StatusError {
            return error.status.rawValue
        }
    }

    @Test func withWaitTheIdComesFirstAndThenTheEnd() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            _ = try await provider.register(Vectors.tokenA, ["user": "alice"])
            let words = ["send", "--app", app, "--user", "alice", "--environment", "sandbox", "--body", "Hi"] + waiting
            let lines = try await provider.martlet(words).split(separator: "\n")
            #expect(lines.count == 2 && UUID(uuidString: String(lines[0])) != nil)
            #expect(lines.last?.hasPrefix("done; ") == true)
            let json = try await provider.martlet(words + ["--json"])
            #expect(json.contains(#""state":"done""#) && json.contains(#""accepted":1"#))
        }
    }

    @Test func aKeyThatCannotFollowSendsNothingWithWait() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            _ = try await provider.register(Vectors.tokenA, ["user": "alice"])
            let issued = try await provider.martlet("key", "add", "backend", "--scope", "send", "--json")
            let key = String(try #require(issued.firstMatch(of: /"key":"([^"]+)"/)?.1))
            let access = ["--server", provider.api.baseURL, "--api-key", key, "--app", app]
            let words = ["send", "--user", "alice", "--environment", "sandbox", "--body", "Hi"] + access
            let error = await #expect(throws: SettingsError.self) { try await martlet(words + ["--wait"]) }
            #expect(error?.description.contains("the API key 'backend' lacks the scope read (it has send)") == true)
            #expect(error?.status == .usage)
            #expect(try await provider.martlet("notification", "list") == "(none)")
            #expect(UUID(uuidString: try await martlet(words)) != nil)
        }
    }

    @Test func nobodyReachedHasAStatusOfItsOwn() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            let words = ["send", "--app", app, "--tag", "none", "--environment", "sandbox", "--body", "Hi"]
            let key = ["--idempotency-key", "k"]
            for words in [words + waiting, words, words + key, words + key] {
                let status = try await self.status { try await provider.martlet(words) }
                #expect(status == ExitStatus.nobodyReached.rawValue)
            }
        }
    }

    @Test func optionsReplaceMembersOfTheFile() async throws {
        try await withTemporaryDirectory { directory in
            let file = "\(directory)/request.json"
            let request = #"{"to":{"user":"bob"},"alert":"Hi","badge":2,"environment":"production"}"#
            try request.write(toFile: file, atomically: true, encoding: .utf8)
            try await withProvider(senders: ScriptedSender()) { provider in
                try await provider.addVectorsApp()
                _ = try await provider.register(Vectors.tokenA, ["tags": ["beta"]])
                let words = ["send", file, "--app", app, "--tag", "beta", "--environment", "sandbox", "--json"]
                let sent = try await provider.martlet(words)
                let id = String(try #require(sent.firstMatch(of: /"id":"([^"]+)"/)?.1))
                let shown = try await provider.martlet("notification", "show", id, "--json")
                #expect(shown.contains(#""to":{"tag":"beta"}"#) && shown.contains(#""environment":"sandbox""#))
            }
        }
    }

    @Test func theSameIdempotencyKeySendsOnce() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            _ = try await provider.register(Vectors.tokenA, ["tags": ["a"]])
            let words = ["send", "--app", app, "--tag", "a", "--environment", "sandbox", "--body", "Hi"]
            let first = try await provider.martlet(words + ["--idempotency-key", "k"])
            #expect(try await provider.martlet(words + ["--idempotency-key", "k"]) == first)
            #expect(try await provider.martlet(words) != first)
        }
    }

    @Test func noProviderIsAStatusOfItsOwn() async throws {
        let words = [
            "send", "--app", app, "--all", "--body", "Hi", "--api-key", "mk_x", "--server", "http://127.0.0.1:1",
        ]
        for words in [words, words + ["--wait"]] {
            let error = await #expect(throws: NoResponseError.self) { try await martlet(words) }
            #expect(error?.status == .unavailable && error?.mayHaveArrived == false)
        }
    }

    @Test(arguments: [
        ["--body", "x"], ["--all", "--user", "a"], ["--all", "--credential", "x.p8", "--service", "sandbox"],
        ["f.json", "--credential", "x.p8", "--service", "sandbox", "--token", "00"],
        ["--token", "00", "--credential", "x.p8"],
        ["--token", "00", "--credential", "x.p8", "--service", "sandbox", "--wait"],
        ["--token", "00", "--credential", "x.p8", "--service", "sandbox", "--server", "http://a"],
        ["--all", "--wait-seconds", "0"], ["--all", "--proxy", "http://p:1"],
    ])
    func optionsThatDoNotFitTogetherAreAUsageError(words: [String]) {
        let error = #expect(throws: (any Error).self) { try MartletCommand.parseAsRoot(["send"] + words) }
        #expect(error.map(MartletCommand.exitCode) == .validationFailure)
    }
}
