import Foundation
import GRDB
import PushProtocol
import PushTesting
import Synchronization
import Testing

@testable import PushStore

/// Copies of a database that is in use.
@Suite(.timeLimit(.minutes(5))) struct BackupTests {
    let now = Vectors.issuedAt

    @Test func aBackupHasEverythingAndNothingHalf() async throws {
        try await self.withStore { store, app, directory in
            _ = try await store.register(Self.registrations(1...2000), app: app, now: self.now)
            // More pages than are copied in one step.
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
            let shares = Mutex<[Double]>([])
            // Writers go on meanwhile: what they add is in the copy or not, but never half of it.
            async let more: Void = {
                for batch in 0..<20 {
                    let first = 2001 + batch * 100
                    _ = try await store.register(Self.registrations(first...(first + 99)), app: app, now: self.now)
                }
            }()
            try await store.backup(to: path) { share in shares.withLock { $0.append(share) } }
            try await more
            let told = shares.withLock { $0 }
            #expect(told.last == 1)
            #expect(told.count > 2)
            #expect(told == told.sorted(), "it never begins anew")

            let copy = try SQLiteStore(path: path, masterKey: try .fixture(1))
            #expect(try await copy.checkIntegrity(isAtRest: true) == [])
            #expect(try await copy.credential(app: app, environment: .sandbox) != nil)
            let count = try await copy.count(app: app, audience: .everyone, environment: nil)
            #expect(count >= 2000)
            #expect(count.isMultiple(of: 100))
            #expect(try await store.count(app: app, audience: .everyone, environment: nil) == 4000)
            try copy.close()
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            let names = try FileManager.default.contentsOfDirectory(atPath: directory)
            #expect(!names.contains { $0.contains(".part") })
        }
    }

    @Test func aFileThatIsThereIsNotOverwritten() async throws {
        try await self.withStore { store, _, directory in
            let path = "\(directory)/backup.sqlite"
            try Data("precious".utf8).write(to: URL(filePath: path))
            await #expect(throws: StoreError.cannotBackUp(path: path, why: "there is a file already")) {
                try await store.backup(to: path)
            }
            #expect(try Data(contentsOf: URL(filePath: path)) == Data("precious".utf8))
        }
    }

    @Test func whatACrashLeftOfABackupIsNoObstacle() async throws {
        try await self.withStore { store, _, directory in
            let path = "\(directory)/backup.sqlite"
            try Data("half a database".utf8).write(to: URL(filePath: "\(path).part"))
            try await store.backup(to: path)
            #expect(try SQLiteStore(path: path, masterKey: try .fixture(1)).close() == ())
        }
    }

    @Test func aPlaceThatCannotBeWrittenToIsNamed() async throws {
        try await self.withStore { store, _, directory in
            let path = "\(directory)/missing/backup.sqlite"
            await #expect {
                try await store.backup(to: path)
            } throws: { error in
                guard case StoreError.cannotBackUp(path, _) = error else { return false }
                return true
            }
        }
    }

    private static func registrations(_ numbers: ClosedRange<Int>) -> [DeviceRegistration] {
        numbers.map { DeviceRegistration(environment: .sandbox, token: .numbered($0)) }
    }

    private func withStore(_ body: (SQLiteStore, Int64, String) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            let store = try SQLiteStore(path: "\(directory)/provider.sqlite", masterKey: try .fixture(1))
            let bundleID = try #require(Topic(Vectors.bundleID))
            let app = try await store.addApp(bundleID: bundleID, name: nil, now: self.now).app.id
            let credential = CredentialRecord.certificate(pem: "pem", passphrase: nil)
            try await store.setCredential(credential, app: app, environment: .sandbox)
            try await body(store, app, directory)
        }
    }
}
