import Foundation
import ProviderModel
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import martlet

@Suite(.timeLimit(.patience)) struct DatabaseCommandTests {
    /// A database with a device, a notification under way and a schedule; open, as while a provider runs.
    private func store(in directory: String) async throws -> SQLStore {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let store = try SQLStore(
            path: "\(directory)/provider.sqlite",
            masterKey: MasterKey.load(orCreateAt: "\(directory)/master.key")
        )
        let bundleID = try #require(Topic(Vectors.bundleID))
        let app = try await store.addApp(bundleID: bundleID, name: nil, now: Vectors.issuedAt).app.id
        let key = CredentialRecord.key(teamID: Vectors.teamID, keyID: Vectors.keyID, privateKey: Vectors.privateKey)
        try await store.setCredential(key, app: app, environment: .sandbox)
        try await store.register(1, app: app)
        _ = try await store.start(app: app)
        try await store.addSchedule(try ScheduleRecord.fixture(app: app, name: "digest"))
        return store
    }

    /// The files of issues are beside the database, and are forgotten easily.
    @Test func missingFilesAreNamed() async throws {
        try await withTemporaryDirectory { directory in
            let (data, backup) = ("\(directory)/data", "\(directory)/backup.sqlite")
            let store = try await self.store(in: data)
            let publication = PublicationRecord(id: UUID(), app: 1, name: "The Example", createdAt: Vectors.issuedAt)
            _ = try await store.addPublication(publication)
            let issue = IssueRecord(
                id: UUID(),
                app: 1,
                publication: publication.id,
                productID: "issue7",
                title: "Issue 7",
                date: try #require(CivilDate("2026-11-20")),
                access: .free,
                createdAt: Vectors.issuedAt
            )
            _ = try await store.addIssue(issue)
            let hash = try #require(ContentHash(bytes: [UInt8](repeating: 0xab, count: 32)))
            let upload = UploadRecord(
                id: UUID(),
                app: 1,
                size: 3,
                hash: hash,
                contentType: "application/zip",
                name: "issue7.zip",
                createdAt: Vectors.issuedAt
            )
            _ = try await store.addUpload(upload, quota: nil)
            _ = try await store.completeUpload(upload.id, now: Vectors.issuedAt)
            let size = try #require(ScreenSize("2048x1536"))
            _ = try await store.setRendition(size, of: issue.id, to: hash, now: Vectors.issuedAt)
            try await martlet(["backup", "--data-directory", data, "--to", backup])
            try await store.close()
            let lost = await failure { try await martlet(["check", "--data-directory", data]) }
            #expect(lost?.contains("1 file that an issue uses is missing") == true)
            #expect(lost?.contains("issue7.zip (abababab…)") == true)
            // The backup itself is sound: it has no files.
            #expect(try await martlet(["check", backup]).contains("is sound"))
            let restore = ["restore", backup, "--data-directory", data, "--replace", "--json"]
            #expect(try await martlet(restore).contains("1 file that an issue uses is missing"))
            let folder = "\(data)/files/ab"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try Data([1, 2, 3]).write(to: URL(filePath: "\(folder)/\(hash.hex)"))
            #expect(try await martlet(["check", "--data-directory", data]).contains("is sound"))
        }
    }

    @Test func aBackupOfAnOpenDatabaseIsRestoredElsewhereWithEverythingPaused() async throws {
        try await withTemporaryDirectory { directory in
            let (old, new, backup) = ("\(directory)/old", "\(directory)/new", "\(directory)/backup.sqlite")
            let store = try await self.store(in: old)
            try await martlet(["backup", "--data-directory", old, "--to", backup])
            // What comes later is not in it, and the one that is there stays.
            try await store.register(2, app: 1)
            let again = await failure { try await martlet(["backup", "--data-directory", old, "--to", backup]) }
            #expect(again?.contains("there is a file already") == true)
            #expect(try await martlet(["check", backup]).contains("is sound"))
            #expect(try await martlet(["check", backup, "--json"]).contains(#""faults":[]"#))
            #expect(try await martlet(["check", "--data-directory", old]).contains("is sound"))
            try await store.close()

            let restore = ["restore", backup, "--data-directory", new]
            #expect(await failure { try await martlet(restore) }?.contains("no master key") == true)
            try FileManager.default.copyItem(atPath: "\(old)/master.key", toPath: "\(new)/master.key")
            let told = try await martlet(restore)
            #expect(told.contains("paused: 1 notifications, 1 schedules"))
            let restored = try SQLStore(
                path: "\(new)/provider.sqlite",
                masterKey: MasterKey.load(orCreateAt: "\(new)/master.key")
            )
            #expect(try await restored.devices(app: 1, audience: .everyone, after: 0, limit: 10).count == 1)
            #expect(try await restored.schedules(app: 1).allSatisfy(\.isPaused))
            #expect(
                try await restored.notifications(app: nil, state: .paused, before: nil, limit: 10).notifications.count
                    == 1
            )
            try await restored.close()

            #expect(await failure { try await martlet(restore) }?.contains("--replace") == true)
            let replaced = try await martlet(restore + ["--replace", "--no-pause"])
            #expect(replaced.contains("before-"))
        }
    }

    /// A claimed shard is in order while a provider runs, and after its end it is not.
    @Test func inFlightDeliveriesAreAFaultOnlyAtRest() async throws {
        try await withTemporaryDirectory { directory in
            let store = try await self.store(in: directory)
            let check = ["check", "--data-directory", directory]
            #expect(try await martlet(check + ["--at-rest"]).contains("is sound"))
            _ = try await store.claimed()
            #expect(try await martlet(check).contains("is sound"))
            let fault = await failure { try await martlet(check + ["--at-rest"]) }
            #expect(fault?.contains("notification 1: a shard is leased, and no provider sends") == true)
            _ = try await store.recover(now: Vectors.issuedAt)
            #expect(try await martlet(check + ["--at-rest"]).contains("is sound"))
            try await store.close()
        }
    }

    @Test func nothingIsReplacedWhileAProviderRunsOrWithAWrongKeyOrADamagedFile() async throws {
        try await withTemporaryDirectory { directory in
            let (data, backup) = ("\(directory)/data", "\(directory)/backup.sqlite")
            try await self.store(in: data).close()
            try await martlet(["backup", "--data-directory", data, "--to", backup])
            let before = try Data(contentsOf: URL(filePath: "\(data)/provider.sqlite"))
            let restore = ["restore", backup, "--data-directory", data, "--replace"]

            let running = try DirectoryLock(folder: data)
            #expect(await failure { try await martlet(restore) }?.contains("stop it first") == true)
            _ = consume running

            let key = try Data(contentsOf: URL(filePath: "\(data)/master.key"))
            try Data(repeating: 1, count: 32).write(to: URL(filePath: "\(data)/master.key"))
            #expect(await failure { try await martlet(restore) }?.contains("master key does not fit") == true)
            try key.write(to: URL(filePath: "\(data)/master.key"))

            var bytes = try Data(contentsOf: URL(filePath: backup))
            let pages = 4096..<min(bytes.count, 12 * 4096)
            bytes.replaceSubrange(pages, with: Data(repeating: 0xff, count: pages.count))
            let damaged = "\(directory)/damaged.sqlite"
            try bytes.write(to: URL(filePath: damaged))
            #expect(await failure { try await martlet(["check", damaged]) } != nil)
            let other = await failure {
                try await martlet(["restore", damaged, "--data-directory", data, "--replace"])
            }
            #expect(other != nil)
            #expect(try Data(contentsOf: URL(filePath: "\(data)/provider.sqlite")) == before)
            try Data("no database".utf8).write(to: URL(filePath: "\(directory)/text"))
            #expect(await failure { try await martlet(["check", "\(directory)/text"]) } != nil)
        }
    }
}
