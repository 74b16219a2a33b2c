import Foundation
import PushSender
import PushSupport
import PushTesting
import PushTypes
import Synchronization
import Testing

@testable import ProviderAPI

/// A rejected credential as callers of the API see it: the pause, its end, and the test of a credential.
@Suite(.timeLimit(.patience)) struct EnvironmentsControllerTests {
    private static let app = "/v1/apps/\(Vectors.bundleID)"
    private static let credential = "\(Self.app)/credentials/production"
    private static let key: JSONValue = [
        "teamId": .string(Vectors.teamID), "keyId": .string(Vectors.keyID), "privateKey": .string(Vectors.privateKey),
    ]
    private static let rejected = Outcome.rejected(Rejection(status: 403, reasonText: "InvalidProviderToken"))

    /// Runs `body` with an app that has a credential for production.
    private func run(_ body: @escaping @Sendable (RunningProvider, ScriptedSender) async throws -> Void) async throws {
        let sender = ScriptedSender()
        try await withProvider(senders: sender) { provider in
            try await provider.api.post("/v1/apps", ["bundleId": .string(Vectors.bundleID)])
            #expect(try await provider.api.put(Self.credential, Self.key).status == 200)
            try await body(provider, sender)
        }
    }

    @Test func aRejectedCredentialIsShownAndTheNextOneDeliversEverything() async throws {
        try await self.run { provider, sender in
            let api = provider.api
            for number in 1...20 {
                let device: JSONValue = ["token": .string(DeviceToken.numbered(number).hex)]
                #expect(try await api.post("\(Self.app)/devices", device).status == 201)
            }
            sender.always(Self.rejected, in: .production)
            let sent = try await api.post("\(Self.app)/notifications", ["alert": "Hello", "to": ["all": true]])
            let path = "/v1/notifications/\(sent.json["id"].stringValue ?? "")"
            try await eventually { try await api.get(path).json["environmentStates"] != .null }
            let state = try await api.get(Self.app).json["environmentStates"].first
            #expect(state["state"] == "paused")
            #expect(state["cause"] == "credentialRejected")
            #expect(state["host"] == "api.push.apple.com")
            #expect(state["message"].stringValue?.contains("InvalidProviderToken") == true)
            #expect(state["advice"].stringValue?.contains("martlet credential set") == true)
            let metrics = String(decoding: try await api.get("/metrics").body, as: UTF8.self)
            #expect(metrics.contains("martlet_environment_paused{"))
            let next = try await api.post("\(Self.app)/notifications", ["alert": "Next", "to": ["all": true]])
            #expect(next.json["warnings"].first["message"].stringValue?.contains("is paused since") == true)
            sender.always(nil, in: .production)
            #expect(try await api.put(Self.credential, Self.key).status == 200)
            try await eventually { try await api.get(path).json["state"] == "done" }
            let counters = try await api.get(path).json["counters"]
            #expect(counters["accepted"] == .integer(20))
            #expect(counters["rejected"] == .integer(0))
            #expect(try await api.get(Self.app).json["environmentStates"].first["state"] == "running")
        }
    }

    @Test func aPersonsTryEndsThePause() async throws {
        try await self.run { provider, sender in
            let api = provider.api
            let path = "\(Self.app)/environments/production"
            #expect(try await api.post("\(path):resume", [:]).json["state"] == "running")
            let device: JSONValue = ["token": .string(DeviceToken.numbered(1).hex)]
            for _ in 1...5 { try await api.post("\(Self.app)/devices", device) }
            sender.always(Self.rejected, in: .production)
            for _ in 1...5 {
                try await api.post("\(Self.app)/notifications", ["alert": "Hello", "to": ["all": true]])
            }
            try await eventually { try await api.get(path).json["state"] == "paused" }
            #expect(try await api.post("\(path):resume", [:]).json["state"] == "paused")
            sender.always(nil, in: .production)
            try await eventually { try await api.post("\(path):resume", [:]).json["state"] == "running" }
        }
    }

    @Test func aTestSaysHowFarItGot() async throws {
        try await self.run { provider, sender in
            let api = provider.api
            var result = try await api.post("\(Self.credential):test", [:]).json
            #expect(result["works"] == true)
            #expect(result["topicAllowed"] == true)
            #expect(result["roundTripMs"] != .null)
            sender.always(Self.rejected, in: .production)
            result = try await api.post("\(Self.credential):test", Self.key).json
            #expect(result["works"] == false)
            #expect(result["trusted"] == true)
            #expect(result["credentialAccepted"] == false)
            #expect(result["topicAllowed"] == .null)
            #expect(result["reason"] == "InvalidProviderToken")
            sender.always(.rejected(Rejection(status: 400, reasonText: "TopicDisallowed")), in: .production)
            result = try await api.post("\(Self.credential):test", [:]).json
            #expect(result["credentialAccepted"] == true)
            #expect(result["topicAllowed"] == false)
            let fault = ConnectionFault(.untrustedServer, host: "push.example.com", port: 2197)
            sender.always(.notSent(.init("TLS: not trusted", fault: fault)), in: .production)
            result = try await api.post("\(Self.credential):test", [:]).json
            #expect(result["reached"] == true)
            #expect(result["trusted"] == false)
            #expect(result["message"].stringValue?.contains("push.example.com:2197") == true)
            #expect(result["advice"].stringValue?.contains("--service-authority") == true)
            // Nothing of it counts for the environment.
            #expect(try await api.get(Self.app).json["environmentStates"].first["state"] == "running")
        }
    }

    @Test func aTestWithoutACredentialOrWithGarbageIsRejected() async throws {
        try await self.run { provider, _ in
            let api = provider.api
            let other = try await api.post("\(Self.app)/credentials/sandbox:test", [:])
            #expect(other.code == "missing_credential")
            #expect(try await api.post("\(Self.credential):test", ["teamId": "X"]).status == 400)
            #expect(try await api.post("\(Self.credential):test", ["nonsense": true]).status == 400)
            #expect(try await api.post("\(Self.app)/credentials/moon:test", [:]).status == 404)
            #expect(try await api.post("/v1/apps/unknown/credentials/production:test", [:]).status == 404)
            #expect(try await api.post("/v1/apps/unknown/environments/production:resume", [:]).status == 404)
        }
    }

    /// Opening a certificate derives a key from its passphrase, which takes time.
    @Test func noCertificateIsOpenedBesideATestOfTheApp() async throws {
        try await self.run { provider, sender in
            let (api, begun, end) = (provider.api, Gate(), Gate())
            sender.onTest {
                begun.open()
                await end.pass()
            }
            async let first = api.post("\(Self.credential):test", [:])
            await begun.pass()
            let archive: JSONValue = ["p12": .string(CredentialsControllerTests.archive), "passphrase": "wrong"]
            let test = try await api.post("\(Self.credential):test", archive)
            let change = try await api.put(Self.credential, archive)
            let key = try await api.put(Self.credential, Self.key)
            end.open()
            let tested = try await first
            #expect(test.code == "too_many_tests" && change.code == "too_many_tests")
            #expect(key.status == 200 && tested.status == 200)
            let opened = try await api.put(Self.credential, archive)
            #expect(opened.code == "wrong_passphrase")
        }
    }

    @Test func anAppTestsItsCredentialsAFewTimesOnly() throws {
        let clock = Mutex(Duration.zero)
        let start = ContinuousClock.now
        let budget = Budget(.credentialTests) { start.advanced(by: clock.withLock { $0 }) }
        let apps = ["com.example.a", "com.example.b"].map { BudgetCaller(app: Topic($0)) }
        for _ in 1...10 { try budget.take(for: apps[0]).end() }
        let refused = #expect(throws: BudgetRefusal.self) { try budget.take(for: apps[0]) }
        #expect(refused?.error.error.code == "too_many_tests" && refused?.error.error.kind == .rateLimited)
        // One at a time.
        let running = try budget.take(for: apps[1])
        #expect(throws: BudgetRefusal.self) { try budget.take(for: apps[1]) }
        running.end()
        clock.withLock { $0 = .seconds(5) }
        try budget.take(for: apps[0]).end()
    }
}

extension JSONValue {
    /// The first element; `null` if there is none.
    fileprivate var first: JSONValue { self.elements.first ?? .null }
}
