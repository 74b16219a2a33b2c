import ArgumentParser
import Foundation
import PushSender
import PushTesting
import PushTypes
import Testing

@testable import martlet

@Suite(.timeLimit(.patience)) struct ProviderCommandTests {
    let app = Vectors.bundleID

    @Test func anAppAndItsCredentialComeFromFilesAndAreListedWithoutSecrets() async throws {
        try await withTemporaryDirectory { directory in
            let key = "\(directory)/AuthKey_\(Vectors.keyID).p8"
            try Vectors.privateKey.write(toFile: key, atomically: true, encoding: .utf8)
            try await withProvider(senders: ScriptedSender()) { provider in
                let added = try await provider.martlet("app", "add", app, "--name", "Mine", "--rate", "500")
                #expect(added.contains("Mine"))
                let set = try await provider.martlet(
                    "credential",
                    "set",
                    "sandbox",
                    key,
                    "--team-id",
                    Vectors.teamID,
                    "--app",
                    app
                )
                #expect(set.contains(Vectors.keyID))
                let list = try await provider.martlet("credential", "list", "--app", app)
                #expect(list.contains("sandbox") && list.contains(Vectors.teamID) && !list.contains("MIGH"))
                let changed = try await provider.martlet("app", "set", app, "--no-rate", "--json")
                #expect(!changed.contains("rate") && changed.contains("Mine"))
                try await provider.martlet("credential", "remove", "sandbox", "--app", app)
                #expect(try await provider.martlet("credential", "list", "--app", app) == "(none)")
            }
        }
    }

    @Test func aCredentialThatFailsItsTestIsNotStored() async throws {
        try await withTemporaryDirectory { directory in
            let key = "\(directory)/AuthKey_\(Vectors.keyID).p8"
            try Vectors.privateKey.write(toFile: key, atomically: true, encoding: .utf8)
            let sender = ScriptedSender()
            sender.always(.rejected(Rejection(status: 403, reasonText: "InvalidProviderToken")), in: .sandbox)
            try await withProvider(senders: sender) { provider in
                try await provider.martlet("app", "add", self.app)
                let set = ["credential", "set", "sandbox", key, "--app", self.app, "--team-id"]
                try await provider.martlet(set + [Vectors.teamID])
                let error = await failure { try await provider.martlet(set + ["XXXXXXXXXX", "--test"]) }
                #expect(error != nil)
                let list = try await provider.martlet("credential", "list", "--app", self.app)
                #expect(list.contains(Vectors.teamID) && !list.contains("XXXXXXXXXX"))
            }
        }
    }

    @Test func aPausedEnvironmentIsNamedInBothWays() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.martlet("app", "add", self.app)
            let first = await failure { try await provider.martlet("app", "retry", self.app, "sandbox") }
            let second = await failure { try await provider.martlet("app", "retry", "sandbox", "--app", self.app) }
            #expect(first == second)
            for words in [["app", "retry"], ["app", "retry", "sandbox", self.app], ["app", "retry", self.app]] {
                #expect(throws: (any Error).self) { try MartletCommand.parseAsRoot(words) }
            }
        }
    }

    @Test func devicesAreAddedCountedListedAndForgotten() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            try await provider.martlet(
                "device",
                "add",
                Vectors.tokenA,
                "--app",
                app,
                "--environment",
                "sandbox",
                "--user",
                "alice",
                "--tag",
                "beta",
                "--attribute",
                "level=7",
                "--attribute",
                "plan=gold"
            )
            try await provider.martlet("device", "add", Vectors.tokenC, "--app", app, "--user", "bob")
            let list = try await provider.martlet("device", "list", "--app", app)
            #expect(list.split(separator: "\n").count == 3)
            #expect(try await provider.martlet("device", "list", "--app", app, "--user", "carol") == "(none)")
            #expect(try await provider.martlet("audience", "count", "--app", app, "--all") == "2")
            let attributes = ["--attribute", "level=7", "--tag", "beta"]
            #expect(
                try await provider.martlet(
                    "audience",
                    "count",
                    "--app",
                    app,
                    attributes[0],
                    attributes[1],
                    "--tag",
                    "beta"
                )
                    == "1"
            )
            let query = #"{"or":[{"user":"alice"},{"user":"bob"}]}"#
            let preview = try await provider.martlet("audience", "preview", "--app", app, "--query", query)
            #expect(preview.hasPrefix("2 active") && preview.contains("alice"))
            let shown = try await provider.martlet("device", "show", Vectors.tokenA, "--app", app)
            #expect(shown.contains("plan gold") && shown.contains("level 7"))
            try await provider.martlet("device", "remove", Vectors.tokenA, "--app", app)
            let history = try await provider.martlet("device", "history", Vectors.tokenA, "--app", app)
            #expect(history.contains("deleted"))
            #expect(try await provider.martlet("user", "badge", "alice", "--set", "3", "--app", app) == "3")
        }
    }

    @Test func aNotificationIsRehearsedSentWatchedAndFound() async throws {
        try await withTemporaryDirectory { directory in
            let file = "\(directory)/request.json"
            let request = #"{"to":{"user":"alice"},"alert":"Hi","environment":"sandbox"}"#
            try request.write(toFile: file, atomically: true, encoding: .utf8)
            try await withProvider(senders: ScriptedSender()) { provider in
                try await provider.addVectorsApp()
                _ = try await provider.register(Vectors.tokenA, ["user": "alice"])
                let preview = try await provider.martlet("notification", "preview", file, "--app", app)
                #expect(preview.contains(Vectors.payload) && preview.contains("recipients  1"))
                let id = try await provider.martlet("notification", "send", file, "--app", app)
                let watched = try await provider.martlet("notification", "watch", id, "--interval", "0.1")
                #expect(
                    watched.split(separator: "\n").last?.contains("done; [##############################] 1 of 1")
                        == true
                )
                #expect(try await provider.martlet("notification", "list", "--state", "done").contains(id))
                let deliveries = try await provider.martlet("notification", "deliveries", id, "--json")
                let apnsID = try #require(deliveries.firstMatch(of: /"apnsId":"([^"]+)"/)?.1)
                let found = try await provider.martlet("notification", "find", String(apnsID))
                #expect(found.contains("accepted") && found.contains(id))
                #expect(
                    await failure { try await provider.martlet("notification", "pause", id) }?.contains("done") == true
                )
            }
        }
    }

    @Test func schedulesWebhooksKeysHygieneAndAuditHaveTheirCommands() async throws {
        try await withTemporaryDirectory { directory in
            let file = "\(directory)/request.json"
            try #"{"to":{"all":true},"alert":"Hi"}"#.write(toFile: file, atomically: true, encoding: .utf8)
            try await withProvider(senders: ScriptedSender()) { provider in
                try await provider.addVectorsApp()
                let rule = ["--cron", "0 9 * * mon-fri", "--time-zone", "Europe/Berlin"]
                let added = try await provider.martlet(
                    "schedule",
                    "add",
                    file,
                    "--name",
                    "digest",
                    rule[0],
                    rule[1],
                    rule[2],
                    rule[3],
                    "--app",
                    app,
                    "--json"
                )
                let id = String(try #require(added.firstMatch(of: /"id":"([^"]+)"/)?.1))
                #expect(
                    try await provider.martlet("schedule", "runs", id, "--count", "2").split(separator: "\n").count == 2
                )
                try await provider.martlet("schedule", "pause", id)
                #expect(try await provider.martlet("schedule", "runs", id) == "(none)")
                let hook = try await provider.martlet("webhook", "add", "https://hooks.example.com/push", "--app", app)
                #expect(hook.contains("whsec_"))
                let hooks = try await provider.martlet("webhook", "list", "--app", app)
                #expect(hooks.contains("hooks.example.com") && !hooks.contains("whsec_"))
                let server = "https://publisher.example.com/check"
                let set = try await provider.martlet("entitlement", "set", server, "--form", "xml", "--app", app)
                #expect(set.contains("whsec_") && set.contains("allowKnown"))
                let shown = try await provider.martlet("entitlement", "show", "--app", app)
                #expect(shown.contains("publisher.example.com") && !shown.contains("whsec_"))
                let removed = try await provider.martlet("entitlement", "remove", "--app", app)
                #expect(removed == "the publisher's server is removed")
                #expect(try await provider.martlet("key", "create", "backend", "--scope", "send").contains("mk_"))
                let keys = try await provider.martlet("key", "list")
                #expect(keys.contains("backend") && !keys.contains("mk_"))
                #expect(try await provider.martlet("hygiene", "--app", app).contains("closed"))
                let settled = try await provider.martlet("hygiene", "discard", "sandbox", "--app", app)
                #expect(settled == "0 tokens kept; the breaker is closed")
                #expect(try await provider.martlet("audit", "--limit", "1").contains("hygiene/sandbox:discard"))
            }
        }
    }

    @Test func whatIsWrongIsSaidInWords() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            let url = provider.api.baseURL
            let ready = try await provider.martlet("status")
            #expect(ready.hasSuffix("is ready"))
            let noApp = await failure { try await provider.martlet("device", "list", "--app", "com.example.Other") }
            #expect(noApp?.contains("there is no app with this bundle id") == true)
            let wrongKey = await failure {
                try await martlet(["app", "list", "--server", url, "--api-key", "mk_wrong"])
            }
            #expect(wrongKey?.contains("does not know this API key") == true)
            let noURL = await failure { try await martlet(["app", "list", "--server", "nowhere", "--api-key", "x"]) }
            #expect(noURL?.contains("is no URL") == true)
            let wrongPath = await failure {
                try await martlet(["app", "list", "--server", "\(url)/somewhere", "--api-key", "x"])
            }
            #expect(wrongPath != nil)
        }
        let nobody = await failure {
            try await martlet(["app", "list", "--server", "http://127.0.0.1:1", "--api-key", "x"])
        }
        #expect(nobody?.contains("is it running?") == true)
    }
}
