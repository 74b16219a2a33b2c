import Foundation
import ProviderModel
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushStore

/// An erased user and the user's tokens in schedules, in named audiences and in the audiences of notifications.
@Suite(.timeLimit(.patience)) struct ErasedRequestTests {
    /// The forms in which a request may write a token.
    enum Form: CaseIterable {
        case lower, upper, base64, pasted

        func text(_ number: Int) -> JSONValue {
            let token = DeviceToken.numbered(number)
            return switch self {
            case .lower: .string(token.hex)
            case .upper: .string(token.hex.uppercased())
            case .base64: .string(Data(token.bytes).base64EncodedString())
            case .pasted: .string("<\(token.hex)>")
            }
        }
    }

    /// The audience without devices.
    private static let nobody: JSONValue = ["not": ["all": true]]

    private let now = Vectors.issuedAt

    private func add(_ to: JSONValue, _ store: any ProviderStore, _ app: Int64) async throws -> ScheduleRecord {
        var schedule = try ScheduleRecord.fixture(app: app)
        schedule.request = try JSONValue.object(["to": to, "alert": "Tick"]).text
        try await store.addSchedule(schedule)
        return schedule
    }

    /// The name of the audience that the app keeps.
    private static let beta = LibraryItemName.name(BytewiseString("beta"))

    private func addAudience(
        _ body: [String: JSONValue],
        _ store: any ProviderStore,
        _ app: Int64
    ) async throws -> LibraryItem {
        var change = LibraryChange(.save, app: app, kind: .audience, item: Self.beta, by: nil, at: self.now)
        change.body = body
        let result = try await store.changeLibrary(change, limits: LibraryLimits())
        guard case .changed(let item, true) = result else {
            Issue.record("it is new")
            throw NothingToClaim()
        }
        return item
    }

    /// Returns the audience of a schedule; `nil` once it is removed.
    private func audience(_ schedule: ScheduleRecord, _ store: any ProviderStore) async throws -> JSONValue? {
        guard let stored = try await store.schedule(schedule.id) else { return nil }
        return try JSONValue(parsing: stored.request)["to"]
    }

    private func expectUnchanged(_ schedule: ScheduleRecord, _ store: any ProviderStore) async throws {
        let stored = try await store.schedule(schedule.id)
        #expect(stored?.request == schedule.request && stored?.version == schedule.version)
    }

    /// Accepts a run that was decided from what a schedule was.
    private func run(_ schedule: ScheduleRecord, _ store: any ProviderStore) async throws -> Acceptance {
        var run = try NotificationRecord.fixture(app: schedule.app, to: .devices(.everyone))
        run.run = ScheduleRun(schedule: schedule.id, at: self.now)
        let shards = [ShardPlan(notBefore: self.now)]
        return try await store.accept(run, shards: shards, idempotency: nil, scheduleVersion: schedule.version)
    }

    /// No run after the request sends to the phone, however its token is written, and before the rows are gone as well.
    @Test(arguments: StoreBackend.available, Form.allCases)
    func schedulesForgetTokens(backend: StoreBackend, form: Form) async throws {
        try await backend.withStore { store, app in
            try await store.register(1, app: app) { $0.user = .set("alice") }
            try await store.register(2, app: app) { $0.user = .set("bob") }
            let gone = [
                try await self.add(["tokens": [form.text(1)]], store, app),
                try await self.add(["token": form.text(1)], store, app),
                try await self.add(["token": form.text(1), "tag": "beta"], store, app),
            ]
            let both = try await self.add(["tokens": [form.text(2), form.text(1)]], store, app)
            let either = try await self.add(["or": [["token": form.text(1)], ["tag": "beta"]]], store, app)
            let other = try await self.add(["tokens": [form.text(2)]], store, app)
            let erasure = try await store.eraseUser("alice", app: app, steady: self.now)
            for schedule in [both, either] { #expect(try await self.run(schedule, store) == .scheduleChanged) }
            while try await store.continueErasure(erasure, now: self.now) {}
            for schedule in gone { #expect(try await store.schedule(schedule.id) == nil) }
            #expect(try await self.audience(both, store) == ["tokens": [form.text(2)]])
            #expect(try await self.audience(either, store) == ["or": [Self.nobody, ["tag": "beta"]]])
            for schedule in [both, either] {
                #expect(try await store.schedule(schedule.id)?.version == schedule.version + 1)
            }
            try await self.expectUnchanged(other, store)
        }
    }

    /// The token that a device had before, and that of a writer who had read the old version.
    @Test(arguments: StoreBackend.available)
    func formerAndLateTokensAreForgotten(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            for number in [1, 2] {
                try await store.register(number, app: app) { ($0.installation, $0.user) = ("phone", .set("alice")) }
            }
            let former = try await self.add(["tokens": [Form.upper.text(1)]], store, app)
            let erasure = try await store.eraseUser("alice", app: app, steady: self.now)
            #expect(try await store.schedule(former.id) == nil)
            let late = try await self.add(["tokens": [Form.upper.text(1), Form.upper.text(2)]], store, app)
            while try await store.continueErasure(erasure, now: self.now) {}
            #expect(try await store.schedule(late.id) == nil)
        }
    }

    /// A user who has no device is found by the name alone, also in what is saved after the request.
    @Test(arguments: StoreBackend.available)
    func aLateScheduleToTheUserIsForgotten(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            try await store.register(1, app: app) { $0.user = .set("bob") }
            let erasure = try await store.eraseUser("alice", app: app, steady: self.now)
            let only = try await self.add(["user": "alice"], store, app)
            let both = try await self.add(["users": ["alice", "bob"]], store, app)
            while try await store.continueErasure(erasure, now: self.now) {}
            #expect(try await store.schedule(only.id) == nil)
            #expect(try await self.audience(both, store) == ["users": ["bob"]])
        }
    }

    /// What has the user's name and is made after the user came back is not that of the request. What was there before is.
    @Test(arguments: StoreBackend.available)
    func whatIsMadeAfterTheUserCameBackStays(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let holder = "user:alice"
            try await store.register(1, app: app) { $0.user = .set("alice") }
            try await store.setBadge(5, app: app, holder: holder)
            let before = try await self.add(["user": "alice"], store, app)
            let erasure = try await store.eraseUser("alice", app: app, steady: self.now)
            #expect(try await store.schedule(before.id) == nil)
            #expect(try await store.badge(app: app, holder: holder) == 0)
            try await store.register(2, app: app) { $0.user = .set("alice") }
            try await store.setBadge(3, app: app, holder: holder)
            let schedule = try await self.add(["user": "alice"], store, app)
            let item = try await self.addAudience(["users": ["alice", "bob"]], store, app)
            let late = try await self.add(["tokens": [Form.upper.text(1), Form.upper.text(2)]], store, app)
            for _ in 1...2 { while try await store.continueErasure(erasure, now: self.now) {} }
            try await store.finishErasure(erasure)
            try await self.expectUnchanged(schedule, store)
            let stored = try await store.libraryItem(Self.beta, of: .audience, app: app)
            #expect(stored?.version == item.version && stored?.body == item.body)
            #expect(try await store.badge(app: app, holder: holder) == 3)
            // The token of the device that is gone is the request's all the same.
            #expect(try await self.audience(late, store) == ["tokens": [Form.upper.text(2)]])
        }
    }

    /// A token that another user has now is that one's, since the request or from before it.
    @Test(arguments: StoreBackend.available)
    func aTokenThatIsAnothersStays(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            for number in [1, 2] {
                try await store.register(number, app: app) { ($0.installation, $0.user) = ("phone", .set("alice")) }
            }
            try await store.register(1, app: app) { $0.user = .set("bob") }
            let before = try await self.add(["tokens": [Form.lower.text(1)]], store, app)
            let erasure = try await store.eraseUser("alice", app: app, steady: self.now)
            while try await store.continueErasure(erasure, now: self.now) {}
            try await store.register(2, app: app) { $0.user = .set("carol") }
            let after = try await self.add(["token": Form.lower.text(2)], store, app)
            #expect(try await !store.continueErasure(erasure, now: self.now))
            for schedule in [before, after] { try await self.expectUnchanged(schedule, store) }
        }
    }

    /// Its versions forget the token too, and the runs of its schedules begin anew.
    @Test(arguments: StoreBackend.available)
    func namedAudiencesForgetTokens(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            try await store.register(1, app: app) { $0.user = .set("alice") }
            let body: [String: JSONValue] = ["or": [["token": Form.base64.text(1)], ["tag": "beta"]]]
            let item = try await self.addAudience(body, store, app)
            var schedule = try ScheduleRecord.fixture(app: app)
            schedule.uses = [LibraryUse(item: item.id)]
            try await store.addSchedule(schedule)
            let erasure = try await store.eraseUser("alice", app: app, steady: self.now)
            #expect(try await self.run(schedule, store) == .scheduleChanged)
            while try await store.continueErasure(erasure, now: self.now) {}
            let sqlite = try #require(store as? SQLStore)
            let bodies = try await sqlite.database.read { database in
                let sql = "SELECT body FROM libraryItem UNION ALL SELECT body FROM libraryVersion"
                return try database.rows(sql: sql).compactMap { $0["body"] as Data? }
            }
            let rest: JSONValue = ["or": [Self.nobody, ["tag": "beta"]]]
            #expect(try bodies.map { try JSONValue(parsing: $0) } == [rest, rest, rest])
        }
    }

    /// What was accepted after the request names whom it names.
    @Test(arguments: StoreBackend.available)
    func audiencesOfNotificationsForgetTokens(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            try await store.register(1, app: app) { $0.user = .set("alice") }
            let (alices, other) = (AudienceExpression.token(.numbered(1)), AudienceExpression.token(.numbered(2)))
            let only = try await store.start(app: app, to: .devices(alices))
            let either = try await store.start(app: app, to: .devices(.or([alices, other])))
            let others = try await store.start(app: app, to: .devices(other))
            let erasure = try await store.eraseUser("alice", app: app, steady: self.now)
            let after = try await store.start(app: app, to: .devices(alices))
            while try await store.continueErasure(erasure, now: self.now) {}
            #expect(try await store.current(only).audience == .devices(.not(.everyone)))
            #expect(try await store.current(either).audience == .devices(.or([.not(.everyone), other])))
            #expect(try await store.current(others).audience == .devices(other))
            #expect(try await store.current(after).audience == .devices(alices))
        }
    }
}
