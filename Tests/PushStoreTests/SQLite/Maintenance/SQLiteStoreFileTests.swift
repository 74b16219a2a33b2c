import Foundation
import GRDB
import ProviderModel
import PushTesting
import PushTypes
import Testing

@testable import PushStore

/// Copies and examinations of a database in use.
@Suite(.timeLimit(.patience)) struct SQLiteStoreFileTests {
    let now = Vectors.issuedAt

    @Test func aCopyHasEverythingAndNothingHalf() async throws {
        try await self.withStore { store, app, file, directory in
            _ = try await store.register(Self.registrations(1...2000), app: app, now: self.now)
            // More pages than one step copies.
            try await store.database.write { database in
                for _ in 0..<10 {
                    try database.execute(
                        sql:
                            "INSERT INTO eventBlock (app, kind, at, events) VALUES (?, 'delivery', 0, zeroblob(1000000))",
                        arguments: [app]
                    )
                }
            }
            let path = "\(directory)/backup.sqlite"
            // Writers continue meanwhile: each transaction is in the copy or not, but never half of it.
            async let more: Void = {
                for batch in 0..<20 {
                    let first = 2001 + batch * 100
                    _ = try await store.register(Self.registrations(first...(first + 99)), app: app, now: self.now)
                }
            }()
            let condition = try await file.copy(to: path)
            try await more
            #expect(condition?.faults == [])
            #expect(condition?.brokenRules != nil)

            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            let names = try FileManager.default.contentsOfDirectory(atPath: directory)
            #expect(names.filter { $0.contains("backup") } == ["backup.sqlite"], "it needs no other file")
            let copy = try SQLStore(path: path, masterKey: try .fixture(1))
            #expect(try await copy.checkIntegrity(isAtRest: true) == [])
            #expect(try await copy.credential(app: app, environment: .sandbox) != nil)
            let count = try await copy.count(app: app, audience: .everyone, environment: nil)
            #expect(count >= 2000)
            #expect(count.isMultiple(of: 100))
            #expect(try await store.count(app: app, audience: .everyone, environment: nil) == 4000)
            try await copy.close()
        }
    }

    @Test func aFileThatIsThereIsNotOverwritten() async throws {
        try await self.withStore { _, _, file, directory in
            let path = "\(directory)/backup.sqlite"
            try Data("precious".utf8).write(to: URL(filePath: path))
            await #expect(throws: StoreError.cannotBackUp(path: path, why: "there is a file already")) {
                try await file.copy(to: path)
            }
            #expect(try Data(contentsOf: URL(filePath: path)) == Data("precious".utf8))
        }
    }

    @Test func whatACrashLeftOfACopyIsNoObstacle() async throws {
        try await self.withStore { _, _, file, directory in
            let path = "\(directory)/backup.sqlite"
            try Data("half a database".utf8).write(to: URL(filePath: "\(path).part"))
            try await file.copy(to: path)
            #expect(try await SQLStore(path: path, masterKey: try .fixture(1)).close() == ())
        }
    }

    @Test func whatCannotBeReadOrWrittenIsNamed() async throws {
        try await self.withStore { _, _, file, directory in
            await #expect {
                try await file.copy(to: "\(directory)/missing/backup.sqlite")
            } throws: { error in
                guard case StoreError.cannotBackUp = error else { return false }
                return true
            }
            let missing = "\(directory)/missing.sqlite"
            await #expect(throws: StoreError.cannotOpen(path: missing, why: "there is no such file")) {
                try await SQLiteStoreFile(path: missing).examine()
            }
            let text = "\(directory)/text"
            try Data("no database".utf8).write(to: URL(filePath: text))
            await #expect {
                try await SQLiteStoreFile(path: text).copy(to: "\(directory)/backup.sqlite")
            } throws: { error in
                guard case StoreError.cannotOpen(text, _) = error else { return false }
                return true
            }
            let other = "\(directory)/other.sqlite"
            let queue = try DatabaseQueue(path: other)
            try await queue.write { try $0.execute(sql: "CREATE TABLE notification (number INTEGER)") }
            try queue.close()
            let why = "it is not the database of a provider"
            await #expect(throws: StoreError.cannotOpen(path: other, why: why)) {
                try await SQLiteStoreFile(path: other).examine()
            }
        }
    }

    @Test func aDamagedCopyDoesNotGetItsName() async throws {
        try await self.withStore { store, app, file, directory in
            _ = try await store.register(Self.registrations(1...2), app: app, now: self.now)
            try await store.sqliteFile.pool.writeWithoutTransaction { database in
                try database.execute(sql: "PRAGMA foreign_keys = 0; DELETE FROM app; PRAGMA foreign_keys = 1")
            }
            let path = "\(directory)/backup.sqlite"
            await #expect {
                try await file.copy(to: path)
            } throws: { error in
                "\(error)".contains("a row of device names one of app that is not there")
            }
            #expect(!FileManager.default.fileExists(atPath: path))
            #expect(!FileManager.default.fileExists(atPath: "\(path).part"))
            let condition = try await file.copy(to: path, isExamined: false)
            #expect(condition == nil)
            #expect(FileManager.default.fileExists(atPath: path))
        }
    }

    /// A copy of a database that breaks a rule is better than none, so it is made and the fault reported.
    @Test func aDatabaseThatBreaksARuleIsCopiedAndTheFaultReported() async throws {
        try await self.withStore { store, app, file, directory in
            _ = try await store.start(app: app)
            try await store.database.run(sql: "UPDATE notification SET accepted = 5")
            let fault = "notification 1: its counters are not what its deliveries add up to"
            let found = try await file.examine()
            #expect(found.faults == [fault])
            #expect(found.damage == [])
            let condition = try await file.copy(to: "\(directory)/backup.sqlite")
            #expect(condition?.brokenRules == [fault])
        }
    }

    /// A copy of a running provider's file without its log, in a folder that is read-only.
    @Test func aFileInAFolderThatCannotBeWrittenIsExamined() async throws {
        try await self.withStore { store, app, _, directory in
            try await store.register(1, app: app)
            _ = try await store.sqliteFile.pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
            let folder = "\(directory)/folder 1"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let file = SQLiteStoreFile(path: "\(folder)/a?b.sqlite")
            try FileManager.default.copyItem(atPath: "\(directory)/provider.sqlite", toPath: "\(folder)/a?b.sqlite")
            // Root may write to every folder, but not to one that does not exist.
            let obstacle = "\(folder)/a?b.sqlite-shm"
            try FileManager.default.createSymbolicLink(atPath: obstacle, withDestinationPath: "missing/shm")
            #expect(try await file.examine().faults == [])
            try Data("log".utf8).write(to: URL(filePath: "\(folder)/a?b.sqlite-wal"))
            await #expect {
                try await file.examine()
            } throws: { error in
                "\(error)".contains("copy it")
            }
        }
    }

    /// The rules apply to the tables of this version only.
    @Test func aFileOfAnotherVersionIsExaminedWithoutTheRules() async throws {
        try await self.withStore { store, _, file, _ in
            try await store.database.write { database in
                try database.execute(sql: "INSERT INTO grdb_migrations VALUES ('99 later')")
                try database.execute(sql: "DROP TABLE retry")
            }
            let condition = try await file.examine()
            #expect(condition.brokenRules == nil)
            #expect(condition.faults == [])
            #expect(condition.migrations.last == "99 later")
        }
    }

    /// An examination beside a provider finds no fault, whatever the provider has just committed.
    @Test(arguments: [NotificationRecord.Guarantee.atLeastOnce, .atMostOnce])
    func noStateOfACampaignIsAFault(guarantee: NotificationRecord.Guarantee) async throws {
        try await self.withStore { store, app, file, _ in
            func expectSound(_ comment: Comment) async throws {
                #expect(try await file.examine().faults == [], comment)
            }
            _ = try await store.register(Self.registrations(1...10), app: app, now: self.now)
            let notification = try await store.start(app: app) { $0.guarantee = guarantee }
            try await expectSound("accepted")
            var claim = try await store.claimed()
            try await expectSound("claimed")
            let recipients = try await store.readAll(claim, page: 10)
            func page(_ part: ArraySlice<Recipient>, _ state: DeliveryRecord.State, isLast: Bool) -> PageResult {
                var page = PageResult(claim)
                page.deliveries = part.map { .fixture($0, state) }
                let cursor = part.last?.id ?? claim.end
                page.step = ShardStep(claim, cursor: cursor, isLast: isLast, leaseUntil: self.now)
                return page
            }
            if guarantee == .atMostOnce {
                _ = try await store.begin(page(recipients[..<4], .sending, isLast: false), now: self.now)
                claim.cursor = 4
                try await expectSound("started")
            }
            _ = try await store.commit([page(recipients[..<4], .accepted, isLast: false)], now: self.now)
            claim.cursor = 4
            try await expectSound("a page")
            try await store.commit(claim) { [claim] page in
                page.retries = [RetryResult(recipient: recipients[4].id, attempts: 1, dueAt: self.now)]
                page.step = ShardStep(claim, cursor: 5, isLast: false, leaseUntil: self.now)
            }
            claim.cursor = 5
            try await expectSound("a retry")
            _ = try await store.begin(page(recipients[5...], .sending, isLast: true), now: self.now)
            claim.cursor = 10
            try await expectSound("the last page is started")
            _ = try await store.setState(.pause(reason: nil), of: notification.id, now: self.now)
            try await expectSound("paused")
            _ = try await store.setState(.resume, of: notification.id, now: self.now)
            try await expectSound("resumed")
            _ = try await store.setState(.cancel, of: notification.id, now: self.now)
            try await expectSound("cancelled while the last page is being sent")
            let late = try await file.examine(isAtRest: true)
            #expect(
                late.faults == [
                    "notification 1: a recipient is being sent to, and no provider sends",
                    "notification 1: a shard is leased, and no provider sends",
                ]
            )
            _ = try await store.commit([page(recipients[5...], .accepted, isLast: true)], now: self.now)
            try await expectSound("its responses")
            var limit = 0
            repeat {
                limit = try await store.forget(before: self.now.advanced(by: .seconds(1)), limit: 3)
                try await expectSound("forgetting")
            } while limit > 0
            #expect(try await store.notification(notification.id) == nil)
        }
    }

    private static func registrations(_ numbers: ClosedRange<Int>) -> [DeviceRegistration] {
        numbers.map { DeviceRegistration(environment: .sandbox, token: .numbered($0)) }
    }

    private func withStore(_ body: (SQLStore, Int64, SQLiteStoreFile, String) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/provider.sqlite"
            let store = try SQLStore(path: path, masterKey: try .fixture(1))
            let bundleID = try #require(Topic(Vectors.bundleID))
            let app = try await store.addApp(bundleID: bundleID, name: nil, now: self.now).app.id
            let credential = CredentialRecord.certificate(pem: "pem", passphrase: nil)
            try await store.setCredential(credential, app: app, environment: .sandbox)
            try await body(store, app, SQLiteStoreFile(path: path), directory)
        }
    }
}
