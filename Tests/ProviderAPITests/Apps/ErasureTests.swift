import Foundation
import ProviderModel
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import ProviderAPI
@testable import PushStore

/// The erasure of users and apps, proven by a search through the database file.
@Suite(.timeLimit(.patience)) struct ErasureTests {
    private static let app = "/v1/apps/\(Vectors.bundleID)"
    private static let user = "alice-4711@example.com"
    private static let other = "bob-0815@example.com"
    private static let text = "Your parcel 99-GHZ has arrived"

    /// A provider whose files are searched once it has ended.
    private func withServer(
        _ body: @escaping @Sendable (RunningProvider, SQLStore) async throws -> Void,
        andThen check: @escaping (Files) throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            let server = try await ProviderServer.erasing(in: directory)
            try await withServices([server]) {
                let port = try await server.port()
                let api = JSONClient(baseURL: "http://127.0.0.1:\(port)", apiKey: server.firstAdminKey)
                let provider = RunningProvider(api: api)
                try await provider.addVectorsApp()
                try await body(provider, server.core.store)
            }
            try check(Files(directory: directory))
        }
    }

    /// All bytes of the database and of the files beside it.
    private struct Files {
        private let bytes: Data

        init(directory: String) throws {
            let names = try FileManager.default.contentsOfDirectory(atPath: directory).filter {
                $0.hasPrefix("provider.sqlite")
            }
            self.bytes = try names.reduce(into: Data()) {
                $0 += try Data(contentsOf: URL(filePath: "\(directory)/\($1)"))
            }
        }

        func contains(_ text: String) -> Bool { self.contains(Data(text.utf8)) }

        func contains(_ data: Data) -> Bool { self.bytes.range(of: data) != nil }

        /// Searches for a token as bytes, and in both forms of hexadecimal.
        func contains(_ token: DeviceToken) -> Bool {
            self.contains(Data(token.bytes)) || self.contains(token.hex) || self.contains(token.hex.uppercased())
        }
    }

    private static func token(_ number: Int) -> DeviceToken { .numbered(number) }

    /// Devices of two users among many others, with what they leave behind.
    private static func fill(_ provider: RunningProvider) async throws {
        // Nothing listens there, so that events wait.
        try await provider.api.post("\(Self.app)/webhooks", ["url": "https://hooks.example.com/push"])
        let crowd = (100..<700).map { number -> JSONValue in
            ["token": .string(Self.token(number).hex), "user": "crowd\(number)", "environment": "sandbox"]
        }
        try await provider.api.post("\(Self.app)/devices:batch", ["devices": .array(crowd)])
        for (number, user) in [(1, Self.user), (2, Self.user), (3, Self.other)] {
            let more: [String: JSONValue] = [
                "user": .string(user), "installation": "installation-\(number)", "tags": ["tag-of-\(user)"],
                "attributes": ["nickname": "nick-of-\(user)"], "locale": "de",
                "preferences": ["optOuts": ["category-of-\(user)"]],
                "encryptionKey": ["id": "key-of-\(user)", "key": "hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo="],
            ]
            #expect(try await provider.register(Self.token(number).hex, more).status == 201)
        }
        let preferences: JSONValue = [
            "optOuts": ["category-of-\(Self.user)"], "quietHours": ["from": "03:00", "to": "03:01"],
        ]
        #expect(try await provider.api.put("\(Self.app)/users/\(Self.user)/preferences", preferences).status == 200)
        // What users have had is counted.
        let cap: JSONValue = ["cap": ["count": 100, "window": "24h"]]
        #expect(try await provider.api.call("PATCH", Self.app, try cap.text).status == 200)
        // A token that changed is still known from the events.
        let changed: [String: JSONValue] = ["user": .string(Self.user), "installation": "installation-1"]
        #expect(try await provider.register(Self.token(11).hex, changed).status == 200)
        let audiences: [JSONValue] = [
            ["user": .string(Self.user)], ["users": [.string(Self.user), .string(Self.other)]], ["all": true],
            ["token": .string(Self.token(2).hex)],
        ]
        for to in audiences {
            let alert: JSONValue = to["user"] == .null ? "Hello everyone" : .string(Self.text)
            _ = try await provider.finished(
                try await provider.send(["to": to, "alert": alert, "badge": "+1", "environment": "sandbox"])
            )
        }
        let tokens: JSONValue = ["tokens": [.string(Self.token(2).hex), .string(Self.token(3).hex)]]
        _ = try await provider.finished(
            try await provider.send(["to": tokens, "alert": "Named", "environment": "sandbox"])
        )
        // It waits for its time, to the user alone.
        let later: JSONValue = ["at": .string(Date.now.addingTimeInterval(86_400).ISO8601Format())]
        let waiting = try await provider.send([
            "to": ["user": .string(Self.user)], "alert": .string(Self.text), "when": later,
        ])
        #expect(waiting.status == 202)
        let named = [2, 3, 11].map { JSONValue.string(Self.token($0).hex.uppercased()) }
        let scheduled: [JSONValue] = [
            ["user": .string(Self.user)], ["users": [.string(Self.user), .string(Self.other)]],
            ["tokens": .array(named)],
        ]
        for to in scheduled {
            let rule: JSONValue = ["cron": "0 9 1 1 *", "timeZone": "Europe/Berlin"]
            let schedule: JSONValue = ["name": "n", "schedule": rule, "notification": ["to": to, "alert": "Daily"]]
            #expect(try await provider.api.post("\(Self.app)/schedules", schedule).status == 201)
        }
        #expect(try await provider.api.put("\(Self.app)/users/\(Self.user)/badge", ["count": 3]).status == 200)
    }

    private static func untilOverwritten(_ store: SQLStore) async throws {
        try await eventually { try await store.erasures().isEmpty }
    }

    @Test func nothingOfAUserIsLeftInTheFile() async throws {
        try await self.withServer { provider, store in
            try await Self.fill(provider)
            let response = try await provider.api.delete("\(Self.app)/users/\(Self.user)")
            #expect(response.status == 200)
            #expect(response.json["state"] == "erased")
            try await Self.untilOverwritten(store)
            let history = try await provider.api.get("\(Self.app)/users/\(Self.other)/history").json
            #expect(history["deliveries"].elements.count == 3)
            let count = try await provider.api.post("\(Self.app)/audience:count", ["audience": ["all": true]])
            #expect(count.json["count"] == 601)
            let schedules = try await provider.api.get("\(Self.app)/schedules").json["schedules"].elements
            let named: JSONValue = ["tokens": [.string(Self.token(3).hex.uppercased())]]
            #expect(schedules.map { $0["notification"]["to"] } == [["users": [.string(Self.other)]], named])
            let faults = try await store.database.read { database in
                try IntegrityCheck.brokenRules(in: database, isAtRest: false, masterKey: nil)
            }
            #expect(faults == [])
        } andThen: { files in
            for number in [1, 2, 11] { #expect(!files.contains(Self.token(number)), "token \(number)") }
            for text in [Self.user, Self.text, "installation-1", "installation-2"] {
                #expect(!files.contains(text), "\(text)")
            }
            #expect(files.contains(Self.token(3)) && files.contains(Self.other) && files.contains(Self.token(500)))
        }
    }

    @Test func nothingOfAnAppIsLeftInTheFile() async throws {
        try await self.withServer { provider, store in
            try await Self.fill(provider)
            let other: JSONValue = ["bundleId": "com.example.Other"]
            #expect(try await provider.api.post("/v1/apps", other).status == 201)
            let stays: JSONValue = ["token": .string(Self.token(9000).hex), "user": "carol"]
            #expect(try await provider.api.post("/v1/apps/com.example.Other/devices", stays).status == 201)
            let key: JSONValue = ["name": "own", "scopes": ["admin"], "apps": [.string(Vectors.bundleID)]]
            let issued = try await provider.api.post("/v1/keys", key)
            let response = try await provider.api.delete(Self.app)
            #expect(response.status == 200)
            try await Self.untilOverwritten(store)
            #expect(try await provider.api.delete(Self.app).status == 404)
            #expect(try await provider.register(Self.token(1).hex).status == 404)
            let keys = try await provider.api.get("/v1/keys").json["keys"].elements
            #expect(!keys.contains { $0["id"] == issued.json["id"] })
            // Another app of that name is another app.
            #expect(try await provider.api.post("/v1/apps", ["bundleId": .string(Vectors.bundleID)]).status == 201)
            #expect(try await provider.api.get("\(Self.app)/devices").json["devices"].elements.isEmpty)
        } andThen: { files in
            for number in [1, 2, 3, 11, 100, 500, 699] {
                #expect(!files.contains(Self.token(number)), "token \(number)")
            }
            for text in [Self.user, Self.other, Self.text, "crowd500", "hooks.example.com", "Hello everyone"] {
                #expect(!files.contains(text), "\(text)")
            }
            #expect(files.contains(Self.token(9000)) && files.contains("carol"))
        }
    }

    /// A crash between two steps loses nothing: the next start goes on, and meanwhile the app does not exist.
    @Test func anErasureGoesOnAfterARestart() async throws {
        try await withTemporaryDirectory { directory in
            let configuration = ProviderConfiguration(dataDirectory: directory)
            do {
                let store = try SQLStore(
                    path: configuration.databasePath,
                    masterKey: MasterKey.load(orCreateAt: configuration.masterKeyPath)
                )
                let bundleID = try #require(Topic(Vectors.bundleID))
                let app = try await store.addApp(bundleID: bundleID, name: nil, now: Vectors.issuedAt).app
                let devices = (0..<3000).map { DeviceRegistration(environment: .sandbox, token: Self.token($0)) }
                _ = try await store.register(devices, app: app.id, now: Vectors.issuedAt)
                let now = Vectors.issuedAt
                let erasure = try #require(try await store.eraseApp(app.id, now: now, steady: now))
                #expect(try await store.continueErasure(erasure, now: now))
                #expect(try await store.app(bundleID: bundleID) == nil)
                await #expect(throws: StoreError.beingErased(bundleID)) {
                    try await store.addApp(bundleID: bundleID, name: nil, now: now)
                }
                try await store.close()
            }
            let server = try await ProviderServer.erasing(in: directory)
            try await withServices([server]) {
                _ = try await server.port()
                try await Self.untilOverwritten(server.core.store)
                let left = try await server.core.store.database.read {
                    try $0.count(sql: "SELECT count(*) FROM device")
                }
                #expect(left == 0)
            }
        }
    }

    /// A notification in progress counts a device that is erased as one that has left.
    @Test(arguments: StoreBackend.available)
    func anErasedDeviceOfANotificationInProgressKeepsOnlyItsNumber(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            var registration = DeviceRegistration(environment: .sandbox, token: Self.token(1))
            registration.user = .set(Self.user)
            registration.tags = ["vip"]
            _ = try await store.register([registration], app: app, now: Vectors.issuedAt)
            _ = try await store.start(app: app) { $0.lane = .bulk }
            let erasure = try await store.eraseUser(Self.user, app: app, steady: Vectors.issuedAt)
            while try await store.continueErasure(erasure, now: Vectors.issuedAt) {}
            #expect(try await store.devices(app: app, token: Self.token(1)).isEmpty)
            #expect(try await store.count(app: app, audience: .everyone, environment: nil) == 0)
            #expect(try await store.count(app: app, audience: .tag("vip"), environment: nil) == 0)
            // A later registration is another device.
            let again = try await store.register([registration], app: app, now: Vectors.issuedAt)
            #expect(again.map(\.kind) == [.added])
        }
    }

    /// What a user gets while the erasure settles is not part of it, until the user is erased again.
    @Test(arguments: StoreBackend.available)
    func whatComesAfterTheRequestStays(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            func erase() async throws -> ErasureRecord {
                let erasure = try await store.eraseUser(Self.user, app: app, steady: Vectors.issuedAt)
                while try await store.continueErasure(erasure, now: Vectors.issuedAt) {}
                try await store.noteAnswered(erasure)
                return erasure
            }
            func send() async throws -> NotificationRecord {
                try await store.start(app: app, to: .devices(.user(Self.user)))
            }
            try await store.register(1, app: app) { $0.user = .set(Self.user) }
            let before = try await send()
            let erasure = try await erase()
            #expect(try await store.notification(before.id) == nil)
            try await store.register(2, app: app) { $0.user = .set(Self.user) }
            let after = try await send()
            #expect(try await !store.continueErasure(erasure, now: Vectors.issuedAt))
            #expect(try await store.devices(app: app, token: Self.token(1)).isEmpty)
            #expect(try await store.devices(app: app, token: Self.token(2)).map(\.profile.user) == [Self.user])
            #expect(try await store.notification(after.id)?.audience == .devices(.user(Self.user)))
            #expect(try await erase().id == erasure.id)
            #expect(try await store.devices(app: app, token: Self.token(2)).isEmpty)
            #expect(try await store.notification(after.id) == nil)
        }
    }

    /// Many notifications go in searches of a bounded number, and those to others stay.
    @Test(arguments: StoreBackend.available)
    func allNotificationsToAUserGo(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            try await store.register(1, app: app) { $0.user = .set(Self.user) }
            let both = AudienceExpression.or([.user(Self.user), .user(Self.other)])
            for number in 0..<120 {
                _ = try await store.start(app: app, to: .devices(number % 10 == 0 ? both : .user(Self.user)))
            }
            let erasure = try await store.eraseUser(Self.user, app: app, steady: Vectors.issuedAt)
            while try await store.continueErasure(erasure, now: Vectors.issuedAt) {}
            let left = try await store.notifications(app: app, state: nil, before: nil, limit: 1000)
            #expect(left.notifications.count == 12)
            for audience in left.notifications.map({ "\($0.audience)" }) {
                #expect(audience.contains(Self.other) && !audience.contains(Self.user))
            }
        }
    }

    @Test(arguments: ["users/", "users//", "/users///"])
    func theAuditNamesNeitherUserNorToken(path: String) async throws {
        try await self.withServer { provider, _ in
            try await provider.api.delete("\(Self.app)/\(path)\(Self.user)")
            let entry = try await provider.api.get("/v1/audit?limit=1").json["entries"].elements.first
            #expect(entry?["action"] == .string("DELETE \(Self.app)/users/{user}"))
        } andThen: { _ in
        }
    }
}
