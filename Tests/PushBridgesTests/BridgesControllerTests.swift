import Logging
import ProviderAPI
import ProviderModel
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Synchronization
import Testing

@testable import PushBridges

@Suite(.timeLimit(.patience)) struct BridgesControllerTests {
    private static let bridges = "/v1/apps/\(Vectors.bundleID)/bridges"
    private static let gorush = "\(bridges)/gorush/default"

    @Test func aBridgeIsMadeShownChangedAndRemoved() async throws {
        try await withBridges { provider in
            let made = try await provider.api.put(Self.gorush, ["environment": "sandbox", "settings": ["sync": true]])
            #expect(made.status == 200)
            #expect(made.json["kind"] == "gorush" && made.json["name"] == "default")
            #expect(made.json["environment"] == "sandbox" && made.json["hasSecret"] == false)
            #expect(made.json["settings"] == ["sync": true])
            let shown = try await provider.api.get(Self.gorush)
            #expect(shown.status == 200 && shown.json == made.json)

            // What a request leaves out has its default again.
            let changed = try await provider.api.put(Self.gorush, [:])
            #expect(changed.status == 200 && changed.json["settings"] == [:])
            #expect(changed.json["environment"] == .null)
            let other = try await provider.api.put("\(Self.bridges)/fcm/shop", [:])
            #expect(other.status == 200)
            let list = try await provider.api.get(Self.bridges).json["bridges"].elements
            #expect(Set(list.map { $0["kind"] }) == ["gorush", "fcm"])

            #expect(try await provider.api.delete(Self.gorush).status == 204)
            let gone = try await provider.api.get(Self.gorush)
            #expect(gone.status == 404 && gone.code == "no_such_bridge" && gone.field == "bridge")
            #expect(try await provider.api.delete(Self.gorush).status == 404)
            #expect(try await provider.api.get(Self.bridges).json["bridges"].elements.count == 1)
        }
    }

    @Test func aSecretIsKeptAndNeverShown() async throws {
        try await withBridges { provider in
            let secret = "a-secret-of-both-that-nobody-guesses"
            let made = try await provider.api.put(Self.gorush, ["secret": .string(secret)])
            #expect(made.json["hasSecret"] == true)
            let kept = try await provider.api.put(Self.gorush, ["settings": ["sync": true]])
            #expect(kept.json["hasSecret"] == true)
            let (shown, list) = (try await provider.api.get(Self.gorush), try await provider.api.get(Self.bridges))
            for response in [made, kept, shown, list] {
                #expect(!String(decoding: response.body, as: UTF8.self).contains(secret))
            }
            let long = String(repeating: "s", count: 257)
            let refused = try await provider.api.put(Self.gorush, ["secret": .string(long)])
            #expect(refused.status == 400 && refused.code == "too_long" && refused.field == "secret")
        }
    }

    @Test func aSecretInTheURLIsLongOrMade() async throws {
        try await withBridges { provider in
            let short = String(repeating: "s", count: 31)
            for kind in ["gorush/default", "fcm/shop"] {
                let refused = try await provider.api.put("\(Self.bridges)/\(kind)", ["secret": .string(short)])
                #expect(refused.status == 400 && refused.code == "too_short" && refused.field == "secret")
            }
            let made = try await provider.api.put(Self.gorush, ["generateSecret": true])
            #expect(made.json["secret"].stringValue?.utf8.count == 35 && made.json["hasSecret"] == true)
            #expect(try await provider.api.get(Self.gorush).json["secret"] == .null)
            let both = try await provider.api.put(
                Self.gorush,
                ["generateSecret": true, "secret": .string(short + "s")]
            )
            #expect(both.status == 400 && both.field == "secret")
        }
    }

    @Test func wrongSettingsNameTheMember() async throws {
        try await withBridges { provider in
            let cases: [(settings: JSONValue, code: String, field: String)] = [
                (["synch": true], "unknown_field", "settings.synch"),
                (["sync": "yes"], "wrong_type", "settings.sync"),
                (["maxNotifications": 0], "invalid_value", "settings.maxNotifications"),
                (["shadow": ["upstream": "ftp://old.example"]], "invalid_value", "settings.shadow.upstream"),
                ("sync", "wrong_type", "settings"),
            ]
            for (settings, code, field) in cases {
                let refused = try await provider.api.put(Self.gorush, ["settings": settings])
                #expect(refused.status == 400 && refused.code == code && refused.field == field, "\(settings)")
            }
            let unknown = try await provider.api.put(Self.gorush, ["setting": [:]])
            #expect(unknown.status == 400 && unknown.code == "unknown_field" && unknown.field == "setting")
            let environment = try await provider.api.put(Self.gorush, ["environment": "staging"])
            #expect(environment.status == 400 && environment.field == "environment")
            #expect(try await provider.api.get(Self.gorush).status == 404)
        }
    }

    @Test func kindsAndNamesAreChecked() async throws {
        try await withBridges { provider in
            let unknown = try await provider.api.put("\(Self.bridges)/pigeon/default", [:])
            #expect(unknown.status == 404 && unknown.code == "no_such_kind" && unknown.field == "kind")
            // Push resources have operations of their own.
            let elsewhere = try await provider.api.put("\(Self.bridges)/webpush/receive", [:])
            #expect(elsewhere.status == 400 && elsewhere.field == "kind")
            for name in ["a%20b", "not-a-topic!", String(repeating: "n", count: 256)] {
                let refused = try await provider.api.put("\(Self.bridges)/gorush/\(name)", [:])
                #expect(refused.status == 400 && refused.field == "bridge", "\(name.prefix(20))")
            }
        }
    }

    /// The document says of each kind which settings it has.
    @Test func theDocumentHasTheSettingsOfEveryKind() async throws {
        let kinds = Bridges.all.map { $0.kind.rawValue }
        #expect(kinds == ["matrix", "xmpp", "gorush", "fcm", "webpush", "binary", "session"])
        #expect(kinds.allSatisfy { BridgeKind(rawValue: $0) != nil })
        try await withBridges { provider in
            let document = try await provider.api.get("/openapi.json").json
            let operation = document["paths"]["/v1/apps/{app}/bridges/{kind}/{bridge}"]["put"]
            let body = operation["requestBody"]["content"]["application/json"]["schema"]
            let settings = body["properties"]["settings"]["anyOf"].elements.filter { $0["type"] == "object" }
            for (schema, type) in zip(settings, Bridges.all.compactMap { $0.settings }) {
                let members = try #require(Self.members(schema["properties"]))
                #expect(Set(members.keys) == type.object.known)
                #expect(schema["additionalProperties"] == false)
                #expect(type.object.known.isDisjoint(with: type.hidden.map { $0.name }))
            }
            #expect(settings.count == 5)
            let kind = operation["parameters"].elements.first { $0["name"] == "kind" }
            #expect(kind?["schema"]["enum"] == .array(kinds.map { .string($0) }))
        }
    }

    private static func members(_ value: JSONValue) -> [String: JSONValue]? {
        if case .object(let members) = value { members } else { nil }
    }

    @Test func anotherAppCannotHaveTheBridge() async throws {
        try await withBridges { provider in
            let other = "/v1/apps/com.example.Other/bridges"
            try await provider.api.post("/v1/apps", ["bundleId": "com.example.Other"])
            try await provider.api.put(Self.gorush, [:])
            let taken = try await provider.api.put("\(other)/gorush/default", [:])
            #expect(taken.status == 409 && taken.code == "name_taken" && taken.field == "bridge")
            #expect(try await provider.api.get("\(other)/gorush/default").status == 404)
            #expect(try await provider.api.delete("\(other)/gorush/default").status == 404)
            #expect(try await provider.api.get(other).json["bridges"].elements.isEmpty)
            #expect(try await provider.api.get(Self.gorush).status == 200)
            let none = try await provider.api.get("/v1/apps/com.example.None/bridges")
            #expect(none.status == 404 && none.code == "no_such_app")
        }
    }

    @Test func aPatternThatTakesAnotherAppsPushesIsRefused() async throws {
        try await withBridges { provider in
            let other = "/v1/apps/com.example.Other/bridges/matrix"
            try await provider.api.post("/v1/apps", ["bundleId": "com.example.Other"])
            #expect(try await provider.api.put("\(Self.bridges)/matrix/org.shop.ios.%2A", [:]).status == 200)
            for name in ["%2A", "org.%2A", "org.shop.ios.dev", "%2A.dev"] {
                let refused = try await provider.api.put("\(other)/\(name)", [:])
                #expect(refused.status == 409 && refused.code == "name_overlaps", "\(name)")
                #expect(refused.field == "bridge")
            }
            for name in ["org.shop.mac", "org.shop.ios", "com.example.Other.%2A"] {
                #expect(try await provider.api.put("\(other)/\(name)", [:]).status == 200, "\(name)")
            }
        }
    }

    @Test func theTopicOfAnotherAppIsRefused() async throws {
        try await withBridges { provider in
            let other = "/v1/apps/com.example.Other/bridges/binary"
            try await provider.api.post("/v1/apps", ["bundleId": "com.example.Other"])
            for topic in [Vectors.bundleID, "\(Vectors.bundleID).voip"] {
                let refused = try await provider.api.put("\(other)/\(topic)", [:])
                #expect(refused.status == 409 && refused.code == "name_taken" && refused.field == "bridge", "\(topic)")
                #expect(try await provider.api.put("\(Self.bridges)/binary/\(topic)", [:]).status == 200, "\(topic)")
            }
            #expect(try await provider.api.put("\(other)/com.example.Old", [:]).status == 200, "no app has it")
        }
    }

    @Test func aBridgeThatAnotherAppReplacesIsNamedInTheLog() async throws {
        let log = RecordedLog(level: .warning)
        try await withProvider(
            senders: ScriptedSender(),
            logger: log.logger,
            addition: { try Bridges($0) }
        ) { provider in
            try await provider.addVectorsApp()
            try await provider.api.put("\(Self.bridges)/binary/org.later", [:])
            try await provider.api.post("/v1/apps", ["bundleId": "org.later"])
            for _ in 0..<2 {
                #expect(try await provider.api.put("/v1/apps/org.later/bridges/binary/org.later", [:]).status == 200)
            }
            #expect(try await provider.api.get("\(Self.bridges)/binary/org.later").status == 404)
            let lines = log.lines.filter { $0.hasPrefix("a bridge was replaced: ") }
            #expect(lines.count == 1)
            #expect(lines.first?.hasSuffix(" app=\(Vectors.bundleID) bridge=binary org.later") == true)
        }
    }

    /// A neighbour has a name from before the app was added, which gets the pushes with a pattern of its own.
    @Test func aBridgeThatLosesItsPushesIsTrouble() async throws {
        try await withBridges { provider in
            let taken = "\(Self.bridges)/matrix/org.later.ios"
            #expect(try await provider.api.put(taken, [:]).status == 200)
            try await provider.api.post("/v1/apps", ["bundleId": "org.later"])
            #expect(try await provider.api.get("/v1/overview").json["trouble"] == [], "it still gets them")
            #expect(try await provider.api.put("/v1/apps/org.later/bridges/matrix/org.later.%2A", [:]).status == 200)
            let trouble = try await provider.api.get("/v1/overview").json["trouble"].elements
            #expect(trouble.map { $0["code"] } == ["bridgeOverruled"])
            #expect(trouble.first?["app"] == .string(Vectors.bundleID))
            #expect(trouble.first?["object"] == "org.later.ios")
            #expect(trouble.first?["message"].stringValue?.contains("matrix bridge “org.later.ios”") == true)
            let later = try await provider.client(["read"], apps: ["org.later"])
            #expect(try await later.get("/v1/overview").json["trouble"] == [])
            #expect(try await provider.api.delete(taken).status == 204)
            #expect(try await provider.api.get("/v1/overview").json["trouble"] == [])
        }
    }

    /// However many there are, an app has one line.
    @Test func aStartNamesTheBridgesThatLoseTheirPushes() async throws {
        try await withTemporaryDirectory { directory in
            @Sendable func configure(_ configuration: inout ProviderConfiguration) {
                configuration.dataDirectory = "\(directory)/data"
                configuration.masterKeyPath = "\(directory)/data/master.key"
            }
            try await withProvider(
                senders: ScriptedSender(),
                addition: { try Bridges($0) },
                configure: configure
            ) { provider in
                try await provider.addVectorsApp()
                for number in 1...6 {
                    try await provider.api.put("\(Self.bridges)/matrix/org.later.ios\(number)", [:])
                }
                try await provider.api.put("\(Self.bridges)/binary/org.later", [:])
                try await provider.api.post("/v1/apps", ["bundleId": "org.later"])
                try await provider.api.put("/v1/apps/org.later/bridges/matrix/org.later.%2A", [:])
            }
            let log = RecordedLog(level: .warning)
            @Sendable func named() -> [String] { log.lines.filter { $0.hasPrefix("a bridge loses pushes ") } }
            try await withProvider(
                senders: ScriptedSender(),
                logger: log.logger,
                addition: { try Bridges($0) },
                configure: configure
            ) { _ in
                try await eventually { !named().isEmpty }
            }
            let names = ["binary org.later"] + (1...4).map { "matrix org.later.ios\($0)" }
            let end = " app=\(Vectors.bundleID) bridges=\(names.joined(separator: ", ")) count=7"
            #expect(named().count == 1)
            #expect(named().first?.hasSuffix(end) == true)
        }
    }

    @Test func anAppHasAMaximumOfBridges() async throws {
        let parts = Mutex<ProviderComponents?>(nil)
        try await withBridges(capture: { value in parts.withLock { $0 = value } }) { provider in
            let store = try #require(parts.withLock { $0 }).store
            let bundleID = try #require(Topic(Vectors.bundleID))
            let app = try #require(try await store.app(bundleID: bundleID)).id
            for number in 1...BridgeRecord.maximumOfApp {
                let bridge = BridgeRecord(kind: .fcm, name: "shop\(number)", app: app, changedAt: Vectors.issuedAt)
                _ = try await store.setBridge(bridge, keepsSecret: false)
            }
            let refused = try await provider.api.put(Self.gorush, [:])
            #expect(refused.status == 409 && refused.code == "too_many_bridges")
            #expect(try await provider.api.put("\(Self.bridges)/fcm/shop1", [:]).status == 200, "it is there already")
            #expect(try await provider.api.delete("\(Self.bridges)/fcm/shop1").status == 204)
            #expect(try await provider.api.put(Self.gorush, [:]).status == 200)
        }
    }

    @Test func onlyAnAdministratorSetsABridge() async throws {
        try await withBridges { provider in
            let sender = try await provider.client(["send", "read", "register"])
            let (set, list) = (try await sender.put(Self.gorush, [:]), try await sender.get(Self.bridges))
            #expect(set.status == 403 && set.code == "missing_scope" && list.status == 403)
            #expect(try await provider.stranger.get(Self.bridges).status == 401)
        }
    }
}
