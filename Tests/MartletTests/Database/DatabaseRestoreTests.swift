import Foundation
import ProviderAPI
import ProviderModel
import PushStore
import PushTesting
import PushTypes
import Testing

@testable import martlet

/// What lies where a backup is to be brought back, and restores that were interrupted.
@Suite(.timeLimit(.patience)) struct DatabaseRestoreTests {
    /// A backup with one device, and beside it what a provider with three devices left when it was killed: a database
    /// whose log has not been written into it.
    private func withCrashedProvider(
        _ body: (ProviderConfiguration, _ restore: [String]) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            let (running, data) = ("\(directory)/running", "\(directory)/data")
            for folder in [running, data] {
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            }
            let (places, backup) = (ProviderConfiguration(dataDirectory: data), "\(directory)/backup.sqlite")
            let path = ProviderConfiguration(dataDirectory: running).databasePath
            let store = try SQLStore(path: path, masterKey: MasterKey.load(orCreateAt: places.masterKeyPath))
            let bundleID = try #require(Topic(Vectors.bundleID))
            let app = try await store.addApp(bundleID: bundleID, name: nil, now: Vectors.issuedAt).app.id
            try await store.register(1, app: app)
            try await martlet(["backup", "--data-directory", running, "--to", backup])
            try await store.register(2, app: app)
            try await store.register(3, app: app)
            for suffix in ["", "-wal", "-shm"] {
                try FileManager.default.copyItem(atPath: path + suffix, toPath: places.databasePath + suffix)
            }
            try await store.close()
            try await body(places, ["restore", backup, "--data-directory", data])
        }
    }

    private func devices(_ places: ProviderConfiguration, at path: String? = nil) async throws -> Int {
        let key = try MasterKey.load(orCreateAt: places.masterKeyPath)
        let store = try SQLStore(path: path ?? places.databasePath, masterKey: key)
        let count = try await store.count(app: 1, audience: .everyone, environment: nil)
        try await store.close()
        return count
    }

    private func kept(_ places: ProviderConfiguration) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: places.dataDirectory)
            .filter { $0.contains(".before-") }.sorted()
    }

    private func serveFailure(_ places: ProviderConfiguration) async -> String? {
        await failure {
            _ = try await ProviderServer(configuration: places, senders: ScriptedSender(), logger: silentLogger)
        }
    }

    /// SQLite would replay it over the backup.
    @Test(arguments: ["-wal", "-shm", "-journal"])
    func whatIsLeftOfADatabaseIsSetAsideToo(suffix: String) async throws {
        try await self.withCrashedProvider { places, restore in
            for other in DatabaseReplacement.suffixes where other != suffix {
                try? FileManager.default.removeItem(atPath: places.databasePath + other)
            }
            let rest = places.databasePath + suffix
            if !FileManager.default.fileExists(atPath: rest) { try Data("old".utf8).write(to: URL(filePath: rest)) }
            let content = try Data(contentsOf: URL(filePath: rest))
            #expect(await failure { try await martlet(restore) }?.contains("--replace") == true)
            #expect(try Data(contentsOf: URL(filePath: rest)) == content)
            #expect(try await martlet(restore + ["--replace"]).contains(".before-"))
            #expect(!FileManager.default.fileExists(atPath: rest))
            #expect(try self.kept(places).allSatisfy { $0.hasSuffix(suffix) })
            #expect(try await self.devices(places) == 1)
            #expect(try await martlet(["check", "--data-directory", places.dataDirectory]).contains("is sound"))
        }
    }

    /// Whatever it had moved when it ended.
    @Test(arguments: 0...4) func anInterruptedRestoreIsNotServedFromAndContinues(moved: Int) async throws {
        try await self.withCrashedProvider { places, restore in
            let aside = "\(places.databasePath).before-then"
            try Data(URL(filePath: aside).lastPathComponent.utf8).write(to: URL(filePath: places.replacementMarker))
            for suffix in DatabaseReplacement.suffixes.prefix(min(moved, 3)) {
                try FileManager.default.moveItem(atPath: places.databasePath + suffix, toPath: aside + suffix)
            }
            if moved == 4 {
                try FileManager.default.copyItem(atPath: restore[1], toPath: places.databasePath)
            }
            #expect(await self.serveFailure(places)?.contains("interrupted") == true)
            #expect(FileManager.default.fileExists(atPath: places.databasePath) == (moved == 0 || moved == 4))

            try await martlet(restore + ["--replace"])
            #expect(!FileManager.default.fileExists(atPath: places.replacementMarker))
            #expect(try await self.devices(places) == 1)
            // The database and its log have stayed together.
            let logs = try self.kept(places).filter { $0.hasSuffix("-wal") }
            #expect(logs.count == 1)
            let old = "\(places.dataDirectory)/\(logs.first?.dropLast(4) ?? "")"
            #expect(try await self.devices(places, at: old) == 3)
            #expect(await self.serveFailure(places) == nil)
        }
    }
}
