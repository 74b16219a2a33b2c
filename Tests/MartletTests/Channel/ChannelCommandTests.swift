import ArgumentParser
import Foundation
import PushGateway
import PushTesting
import PushTypes
import Testing

@testable import martlet

/// `martlet channel` and `martlet broadcast`, through a provider and straight at a gateway.
@Suite(.timeLimit(.patience)) struct ChannelCommandTests {
    private let app = Vectors.bundleID

    private func withState(_ body: @escaping @Sendable (String, String) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            let file = "\(directory)/state.json"
            try #"{"home":1}"#.write(toFile: file, atomically: true, encoding: .utf8)
            try await body(directory, file)
        }
    }

    @Test func throughAProviderTheyAreRequestsOfItsAPI() async throws {
        try await self.withState { _, state in
            let sender = ScriptedSender()
            try await withProvider(senders: sender) { provider in
                try await provider.addVectorsApp()
                let create = ["channel", "add", "--environment", "sandbox", "--stores", "--name", "match 7"]
                let id = try await provider.martlet(create + ["--app", app])
                #expect(ChannelID(id) != nil)
                let list = try await provider.martlet("channel", "list", "--app", app)
                #expect(list.contains(id) && list.contains("active") && list.contains("match 7"))
                let words = ["broadcast", id, "--state", state, "--title", "Goal", "--app", app]
                let sent = try await provider.martlet(words + waiting)
                #expect(sent.contains("done; ") && sender.sent.count == 1)
                let deleted = try await provider.martlet("channel", "remove", id, "--app", app)
                #expect(deleted == "channel \(id) is removed")
                #expect(try await provider.martlet("channel", "list", "--app", app) == "(none)")
            }
        }
    }

    @Test func withACredentialTheyGoStraightToThePushService() async throws {
        try await self.withState { directory, state in
            let key = "\(directory)/AuthKey_\(Vectors.keyID).p8"
            try Vectors.privateKey.write(toFile: key, atomically: true, encoding: .utf8)
            try await withGateway(in: "\(directory)/gateway") { gateway in
                try await gateway.registerVectors()
                let authority = "\(directory)/authority.pem"
                try gateway.gateway.authorityPEM.write(toFile: authority, atomically: true, encoding: .utf8)
                let service = [
                    "--app", app, "--credential", key, "--team-id", Vectors.teamID,
                    "--service", "localhost:\(gateway.addresses.main.http2)", "--authority", authority,
                ]
                #expect(try await martlet(["channel", "list"] + service) == "(none)")
                let id = try await martlet(["channel", "add", "--stores"] + service)
                #expect(try await martlet(["channel", "list"] + service) == id)
                let accepted = try await martlet(["broadcast", id, "--state", state] + service)
                #expect(accepted.hasPrefix("accepted"))
                #expect(try await martlet(["channel", "remove", id] + service) == "channel \(id) is removed")
                let error = await #expect(throws: SettingsError.self) {
                    try await martlet(["channel", "remove", id] + service)
                }
                #expect(error?.description == "the push service says ChannelNotRegistered")
                await #expect(throws: ExitCode.self) {
                    try await martlet(["broadcast", id, "--state", state] + service)
                }
            }
        }
    }

    @Test(
        arguments: [
            ["channel", "add"], ["channel", "add", "--environment", "sandbox", "--service", "sandbox"],
            ["channel", "add", "--environment", "sandbox", "--credential", "k.p8", "--service", "sandbox"],
            ["channel", "add", "--credential", "k.p8"], ["channel", "remove"], ["channel", "remove", "no id"],
            ["broadcast", "YQ=="], ["broadcast", "YQ==", "--payload", "p.json", "--title", "x"],
            ["broadcast", "YQ==", "--event", "start", "--state", "s.json"],
            ["broadcast", "YQ==", "--state", "s.json", "--credential", "k.p8", "--service", "sandbox", "--wait"],
        ]
    )
    func optionsThatDoNotFitAreRefused(words: [String]) async throws {
        #expect(throws: (any Error).self) { _ = try MartletCommand.parseAsRoot(words) }
    }
}
