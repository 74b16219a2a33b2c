import Foundation
import GRDB
import ProviderModel
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushStore

/// A row that cannot be read blocks no others, and an examination names it.
@Suite(.timeLimit(.patience)) struct DamageSearchTests {
    let now = Vectors.issuedAt

    @Test(arguments: ["audience = '{'", "id = 'x'", "state = 'dreaming'", "delivery = x'7b7d'", "pace = x'7b'"])
    func aListLeavesOutNotificationsThatCannotBeRead(change: String) async throws {
        try await self.withStore { store, app in
            var all: [UUID] = []
            for _ in 1...3 { all.append(try await store.start(app: app).id) }
            try await store.damage("UPDATE notification SET \(change) WHERE number = 2")
            let first = try await store.notifications(app: nil, state: nil, before: nil, limit: 2)
            #expect(first.notifications.map(\.id) == [all[2]])
            let second = try await store.notifications(app: app, state: .accepted, before: first.next, limit: 2)
            #expect(second.notifications.map(\.id) == [all[0]])
            #expect(second.next == nil)
            #expect(try await store.statistics(now: self.now).notifications.values.reduce(0, +) >= 2)
            #expect(try await store.checkIntegrity() == ["notification 2: what is stored of it cannot be read"])
        }
    }

    /// A role of a later version gives no rights.
    @Test func aPersonWhoCannotBeReadIsNamedAndDoesNotSignIn() async throws {
        try await self.withStore { store, _ in
            let person = try await store.addPerson("anna", password: "p")
            try await store.damage("UPDATE person SET role = 'king'")
            await #expect(throws: DamagedRow.self) { try await store.signInCandidate(name: "anna", network: [1]) }
            await #expect(throws: DamagedRow.self) {
                try await store.session(hash: [UInt8(truncatingIfNeeded: person.number)])
            }
            let faults = try await store.checkIntegrity()
            #expect(faults == ["person \(person.id): what is stored of it cannot be read"])
        }
    }

    /// Who asks ends the registrations of owners without devices.
    @Test func devicesThatCannotBeReadAreNotNone() async throws {
        try await self.withStore { store, app in
            var registration = DeviceRegistration(environment: .sandbox, token: .numbered(1))
            registration.installation = "phone-1"
            _ = try await store.register([registration], app: app, now: self.now)
            try await store.damage("UPDATE device SET token = x''")
            await #expect(throws: DamagedRow.self) {
                try await store.xmppTokens(of: .installation("phone-1"), app: app, environment: nil, limit: 10)
            }
        }
    }

    /// It can be cancelled, none of its retries stay, and retention deletes it.
    @Test func whatCannotBeReadIsCancelled() async throws {
        try await self.withStore { store, app in
            try await store.register(1, app: app)
            let notification = try await store.start(app: app)
            let claim = try await store.claimed()
            try await store.commit(claim) { page in
                page.retries = [RetryResult(recipient: 1, attempts: 2, dueAt: self.now)]
                page.step = .last(claim)
            }
            try await store.damage("UPDATE notification SET audience = '{'")
            await #expect(throws: DamagedRow.self) {
                try await store.setState(.pause(reason: nil), of: notification.id, now: self.now)
            }
            #expect(try await store.text("SELECT state FROM notification") == "paused")
            await #expect(throws: DamagedRow.self) {
                try await store.setState(.resume, of: notification.id, now: self.now)
            }
            #expect(try await store.text("SELECT state FROM notification") == "paused")
            for _ in 1...2 {
                await #expect(throws: DamagedRow.self) {
                    try await store.setState(.cancel, of: notification.id, now: self.now)
                }
                #expect(try await store.text("SELECT state FROM notification") == "cancelled")
            }
            #expect(try await store.nextDue(lane: .bulk) == nil)
            let deliveries = try await store.deliveries(of: notification.id, state: .failed, after: nil, limit: 10)
            #expect(deliveries.map(\.attempts) == [2])
            #expect(deliveries.first?.reason == EndingCause.unreadable.rawValue)
            #expect(try await store.checkIntegrity(isAtRest: true) == [])
            let later = self.now.advanced(by: .seconds(1))
            while try await store.forget(before: later, limit: 10) > 0 {}
            #expect(try await store.text("SELECT CAST(count(*) AS TEXT) FROM notification") == "0")
        }
    }

    /// A pause of a notification that has ended changes nothing.
    @Test func onlyACancelledNotificationLosesItsRetries() async throws {
        try await self.withStore { store, app in
            try await store.register(1, app: app)
            let notification = try await store.start(app: app)
            let claim = try await store.claimed()
            try await store.commit(claim) { page in
                page.deliveries = [DeliveryResult(recipient: 1, device: 1, state: .accepted, attempts: 1, at: self.now)]
                page.step = .last(claim)
            }
            try await store.damage("UPDATE notification SET topic = ''")
            await #expect(throws: DamagedRow.self) {
                try await store.setState(.cancel, of: notification.id, now: self.now)
            }
            #expect(try await store.text("SELECT state FROM notification") == "done")
        }
    }

    @Test(arguments: ["sealed = x'00'", "sealed = randomblob(80)", "id = 'x'"])
    func aWebhookThatCannotBeReadIsNamedAndTheOthersAreThere(change: String) async throws {
        try await self.withStore { store, app in
            let webhooks = (1...2).map { number in
                WebhookRecord(
                    id: UUID(),
                    app: app,
                    url: "https://example.com/\(number)",
                    secret: "secret",
                    events: [.token],
                    createdAt: self.now.advanced(by: .seconds(number))
                )
            }
            for webhook in webhooks { try await store.addWebhook(webhook) }
            try await store.damage("UPDATE webhook SET \(change) WHERE url LIKE '%1'")
            let list = try await store.readWebhooks(app: nil)
            #expect(list.webhooks == [webhooks[1]])
            let id = try await store.text("SELECT id FROM webhook WHERE url LIKE '%1'")
            #expect(list.unreadable == [id])
            #expect(try await store.checkIntegrity() == ["webhook \(id ?? ""): what is stored of it cannot be read"])
            if id != "x" {
                await #expect(throws: DamagedRow.self) { try await store.webhook(webhooks[0].id) }
                #expect(try await store.deleteWebhook(webhooks[0].id))
                #expect(try await store.checkIntegrity() == [])
            }
        }
    }

    @Test(arguments: ["id = 'x'", "rule = x'7b7d'"])
    func aScheduleThatCannotBeReadIsPausedAndTheOthersRun(damage: String) async throws {
        try await self.withStore { store, app in
            let schedules = try (1...2).map { number in
                var schedule = try ScheduleRecord.fixture(app: app, name: "\(number)")
                schedule.nextRunAt = self.now.advanced(by: .seconds(number))
                return schedule
            }
            for schedule in schedules { try await store.addSchedule(schedule) }
            let id = damage.hasPrefix("id") ? "x" : schedules[0].id.uuidString
            try await store.damage("UPDATE schedule SET \(damage) WHERE name = '1'")
            #expect(try await store.schedules(app: app) == [schedules[1]])
            let later = self.now.advanced(by: .seconds(9))
            let due = try await store.dueSchedules(now: later, limit: 1)
            #expect(due.schedules.isEmpty)
            #expect(due.unreadable == [id])
            let next = try await store.dueSchedules(now: later, limit: 1)
            #expect(next.schedules == [schedules[1]])
            #expect(next.unreadable.isEmpty)
            #expect(try await store.nextScheduleRun() == schedules[1].nextRunAt)
            #expect(try await store.checkIntegrity() == ["schedule \(id): what is stored of it cannot be read"])
        }
    }

    @Test func aScheduleThatCannotBeReadCanBeReplaced() async throws {
        try await self.withStore { store, app in
            let schedule = try ScheduleRecord.fixture(app: app, name: "1")
            try await store.addSchedule(schedule)
            try await store.damage("UPDATE schedule SET rule = x'7b7d'")
            await #expect(throws: DamagedRow.self) { try await store.schedule(schedule.id) }
            #expect(try await store.app(ofSchedule: schedule.id)?.id == app)
            #expect(try await store.app(ofSchedule: UUID()) == nil)
            let change = ScheduleChange.replace(
                name: "2",
                request: schedule.request,
                rule: schedule.rule,
                nextRunAt: schedule.nextRunAt
            )
            guard case .changed(let replaced) = try await store.changeSchedule(schedule.id, change) else {
                Issue.record("the schedule was not replaced")
                return
            }
            #expect(replaced.name == "2")
            #expect(replaced.rule == schedule.rule)
            #expect(try await store.checkIntegrity() == [])
        }
    }

    @Test func whatCannotBeReadIsPausedWithEverythingElse() async throws {
        try await self.withStore { store, app in
            for _ in 1...2 { _ = try await store.start(app: app) }
            let ended = try await store.start(app: app)
            _ = try await store.setState(.cancel, of: ended.id, now: self.now)
            try await store.damage("UPDATE notification SET audience = '{' WHERE number = 1")
            for name in ["1", "2"] {
                try await store.addSchedule(try ScheduleRecord.fixture(app: app, name: name))
            }
            try await store.damage("UPDATE schedule SET id = 'x' WHERE name = '1'")
            let paused = try await store.pauseEverything(reason: "restored")
            #expect(paused == (2, 2))
            #expect(try await store.text("SELECT group_concat(state) FROM notification") == "paused,paused,cancelled")
            #expect(try await store.nextScheduleRun() == nil)
            let again = try await store.pauseEverything(reason: "restored")
            #expect(again == (0, 0))
        }
    }

    /// Its token can be used all the same.
    @Test(arguments: ["{", "[]", "[1"])
    func aDeviceWhoseAttributesCannotBeReadHasNone(text: String) async throws {
        try await self.withStore { store, app in
            try await store.register(1, app: app) { $0.attributes = ["plan": .set(.string("pro"))] }
            try await store.damage("UPDATE device SET attributes = '\(text)'")
            let device = try #require(try await store.devices(app: app, token: .numbered(1)).first)
            #expect(device.profile.attributes.isEmpty)
            #expect(try await store.checkIntegrity().count == 1)
            try await store.apply(.deactivated(since: self.now.advanced(by: .seconds(60))), to: device.id, app: app)
            #expect(try await store.devices(app: app, token: .numbered(1)).first?.isActive == false)
            try await store.register(1, app: app) { $0.attributes = ["plan": .set(.string("free"))] }
            #expect(try await store.checkIntegrity() == [])
        }
    }

    @Test(arguments: ["environment = 7", "token = x''"])
    func aDeviceThatCannotBeReadIsLeftOut(change: String) async throws {
        try await self.withStore { store, app in
            for number in 1...7 { try await store.register(number, app: app) { $0.user = .set("alice") } }
            try await store.damage("UPDATE device SET \(change) WHERE id IN (2)")
            try await store.damage("UPDATE device SET environment = 7 WHERE id IN (3, 7)")
            for audience in [AudienceExpression.everyone, .user("alice")] {
                func page(after: Int64) async throws -> [Int64] {
                    try await store.devices(app: app, audience: audience, after: after, limit: 2).map(\.id)
                }
                #expect(try await page(after: 0) == [1, 4], "a page is full as long as there are more")
                #expect(try await page(after: 4) == [5, 6])
                #expect(try await page(after: 6) == [])
            }
            let faults = try await store.checkIntegrity()
            #expect(faults == [2, 3, 7].map { "device \($0): what is stored of it cannot be read" })
        }
    }

    @Test func aDeviceThatCannotBeReadIsRemovedByItsToken() async throws {
        try await self.withStore { store, app in
            for environment in PushEnvironment.allCases {
                try await store.register(1, app: app, environment: environment)
            }
            try await store.damage("UPDATE device SET environment = 7 WHERE id = 1")
            #expect(try await store.devices(app: app, token: .numbered(1)).map(\.id) == [2])
            let removed = try await store.deleteDevices(app: app, token: .numbered(1), environment: nil, now: self.now)
            #expect(removed.count == 2)
            let events = try await store.tokenEvents(app: app, token: nil, action: .deleted, before: nil, limit: 10)
            #expect(events.map(\.device) == [2])
            #expect(try await store.checkIntegrity() == [])
        }
    }

    @Test func aRegistrationMendsAttributesThatCannotBeRead() async throws {
        try await self.withStore { store, app in
            try await store.register(1, app: app) { $0.attributes = ["level": .set(3), "name": .set("Ann")] }
            try await store.damage("UPDATE device SET attributes = '{'")
            try await store.register(1, app: app) { $0.attributes = ["level": .set(4)] }
            let device = try await store.devices(app: app, token: .numbered(1)).first
            #expect(device?.profile.attributes == ["level": 4])
            #expect(try await store.text("SELECT group_concat(name) FROM deviceAttribute") == "level")
            #expect(try await store.checkIntegrity() == [])
        }
    }

    /// A token state change of it has no effect, and the page is written.
    @Test func aResponseForADeviceThatCannotBeReadIsWritten() async throws {
        try await self.withStore { store, app in
            try await store.register(1, app: app)
            let notification = try await store.start(app: app)
            let claim = try await store.claimed()
            try await store.damage("UPDATE device SET environment = 7")
            try await store.commit(claim) { page in
                page.deliveries = [DeliveryResult(recipient: 1, device: 1, state: .rejected, attempts: 1, at: self.now)]
                page.tokenChanges = [
                    TokenStateChange(device: 1, kind: .deactivated(since: self.now), reason: "Unregistered")
                ]
                page.step = .last(claim)
            }
            #expect(try await store.current(notification).state == .done)
        }
    }

    @Test func aCredentialThatCannotBeOpenedIsNamed() async throws {
        try await self.withStore { store, app in
            let credential = CredentialRecord.certificate(pem: "pem", passphrase: nil)
            try await store.setCredential(credential, app: app, environment: .sandbox)
            #expect(try await store.checkIntegrity() == [])
            try await store.damage("UPDATE credential SET sealed = randomblob(80)")
            let fault = "credential of app \(app), environment 1: what is stored of it cannot be read"
            #expect(try await store.checkIntegrity() == [fault])
        }
    }

    private func withStore(_ body: (SQLStore, Int64) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            let store = try SQLStore(path: "\(directory)/provider.sqlite", masterKey: try .fixture(1))
            let bundleID = try #require(Topic(Vectors.bundleID))
            let app = try await store.addApp(bundleID: bundleID, name: nil, now: self.now).app.id
            try await body(store, app)
            try await store.close()
        }
    }
}

extension SQLStore {
    fileprivate func damage(_ sql: String) async throws {
        try await self.database.write { try $0.execute(sql: sql) }
    }

    fileprivate func text(_ sql: String) async throws -> String? {
        try await self.database.read { try $0.value(sql: sql) as String? }
    }
}
