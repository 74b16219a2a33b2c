import Foundation
import ProviderModel
import PushStore
import PushTesting
import PushTypes
import Testing

/// The contract of every ``APIKeyStore`` and ``AuditStore``.
@Suite(.timeLimit(.patience)) struct RecordStoreContract: StoreContract {
    @Test(arguments: StoreBackend.available)
    func anAPIKeyIsFoundByItsHashOnly(backend: StoreBackend) async throws {
        try await backend.withStore { store, _ in
            let key = APIKeyRecord(id: UUID(), name: "ci", scopes: [.send, .read], createdAt: self.now)
            let newer = APIKeyRecord(
                id: UUID(),
                name: "admin",
                scopes: [.admin],
                createdAt: self.now.advanced(by: .seconds(1))
            )
            try await store.addKey(newer, hash: [4])
            try await store.addKey(key, hash: [1, 2, 3])
            #expect(try await store.key(hash: [1, 2, 3]) == key)
            #expect(try await store.key(hash: [1, 2]) == nil)
            #expect(try await store.keys() == [key, newer])
            #expect(try await store.deleteKey(key.id) == .deleted)
            #expect(try await store.deleteKey(key.id) == .missing)
            #expect(try await store.keys() == [newer])
            #expect(try await store.deleteKey(newer.id) == .lastAdmin)
            #expect(try await store.keys() == [newer])
        }
    }

    @Test(arguments: StoreBackend.available)
    func ofAdminKeysThatEndEachOtherOneStays(backend: StoreBackend) async throws {
        for _ in 1...20 {
            try await backend.withStore { store, _ in
                let keys = (0..<4).map { number in
                    APIKeyRecord(
                        id: UUID(),
                        name: "\(number)",
                        scopes: number == 3 ? [.send] : [.admin, .read],
                        createdAt: self.now
                    )
                }
                for (number, key) in keys.enumerated() { try await store.addKey(key, hash: [UInt8(number)]) }
                let results = try await withThrowingTaskGroup(of: KeyDeletionResult.self) { group in
                    for key in keys { group.addTask { try await store.deleteKey(key.id) } }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(results.count { $0 == .deleted } == 3)
                #expect(results.count { $0 == .lastAdmin } == 1)
                #expect(try await store.keys().map(\.scopes) == [[.admin, .read]])
            }
        }
    }

    @Test(arguments: StoreBackend.available)
    func aKeyKeepsItsLimitsAndChangesAtOnce(backend: StoreBackend) async throws {
        try await backend.withStore { store, _ in
            var key = APIKeyRecord(id: UUID(), name: "ci", scopes: [.send], createdAt: self.now)
            let other = try #require(Topic("com.example.Other"))
            key.apps = [try #require(Topic(Vectors.bundleID)), other]
            // A key for an app that is not there would come alive with the next one of that name.
            let early = key
            await #expect(throws: StoreError.noSuchApp(other)) { try await store.addKey(early, hash: [1]) }
            #expect(try await store.key(hash: [1]) == nil)
            _ = try await store.addApp(bundleID: other, name: nil, now: self.now)
            (key.expiresAt, key.rate) = (self.now.advanced(by: .seconds(60)), 5)
            try await store.addKey(key, hash: [1])
            #expect(try await store.key(hash: [1]) == key)
            let result = try await store.changeKey(key.id) { ($0.apps, $0.expiresAt, $0.rate) = (nil, nil, nil) }
            (key.apps, key.expiresAt, key.rate) = (nil, nil, nil)
            #expect(result == .changed(key))
            #expect(try await store.key(hash: [1]) == key)
            #expect(try await store.changeKey(UUID()) { $0.rate = 1 } == .missing)
            let missing = try #require(Topic("com.example.Missing"))
            await #expect(throws: StoreError.noSuchApp(missing)) {
                try await store.changeKey(early.id) { $0.apps = [missing] }
            }
            #expect(try await store.key(hash: [1])?.apps == nil)
            let later = self.now.advanced(by: .seconds(9))
            try await store.setLastUses([key.id: later, UUID(): later])
            try await store.setLastUses([key.id: self.now])
            #expect(try await store.keys().map(\.lastUsedAt) == [later])
        }
    }

    /// A key that expires, or that is for some apps only, cannot take the place of the last lasting admin key.
    @Test(arguments: StoreBackend.available)
    func theLastLastingAdminKeyStaysOne(backend: StoreBackend) async throws {
        try await backend.withStore { store, _ in
            let topic = try #require(Topic(Vectors.bundleID))
            let admin = APIKeyRecord(id: UUID(), name: "admin", scopes: [.admin], createdAt: self.now)
            var expiring = APIKeyRecord(id: UUID(), name: "night", scopes: [.admin], createdAt: self.now)
            expiring.expiresAt = self.now.advanced(by: .seconds(60))
            let app = APIKeyRecord(
                id: UUID(),
                name: "app",
                scopes: [.admin],
                apps: [topic],
                createdAt: self.now
            )
            for (number, key) in [admin, expiring, app].enumerated() {
                try await store.addKey(key, hash: [UInt8(number)])
            }
            #expect(try await store.deleteKey(admin.id) == .lastAdmin)
            #expect(try await store.changeKey(admin.id) { $0.scopes = [.read] } == .lastAdmin)
            #expect(try await store.changeKey(admin.id) { $0.apps = [topic] } == .lastAdmin)
            #expect(try await store.changeKey(admin.id) { $0.expiresAt = self.now } == .lastAdmin)
            #expect(try await store.key(hash: [0]) == admin)
            guard case .changed = try await store.changeKey(admin.id, { $0.name = "root" }) else {
                Issue.record("the name of the last admin key cannot be changed")
                return
            }
            guard case .changed = try await store.changeKey(expiring.id, { $0.expiresAt = nil }) else {
                Issue.record("the expiry of another key cannot be removed")
                return
            }
            #expect(try await store.deleteKey(admin.id) == .deleted)
            #expect(try await store.deleteKey(app.id) == .deleted)
            #expect(try await store.deleteKey(expiring.id) == .lastAdmin)
        }
    }

    @Test(arguments: StoreBackend.available)
    func theAuditIsReadNewestFirstInPages(backend: StoreBackend) async throws {
        try await backend.withStore { store, _ in
            let key = UUID()
            for status in [201, 403, 200] {
                let entry = AuditRecord(
                    at: self.now,
                    key: status == 403 ? nil : key,
                    keyName: "ci",
                    action: "PUT /v1/apps",
                    status: status
                )
                try await store.addAudit(entry)
            }
            let first = try await store.audit(before: nil, limit: 2)
            #expect(first.map(\.status) == [200, 403])
            #expect(first.map(\.key) == [key, nil])
            let second = try await store.audit(before: first.last?.id, limit: 2)
            #expect(second.map(\.status) == [201])
            #expect(second.first?.at == self.now)
        }
    }

    @Test(arguments: StoreBackend.available)
    func theAuditForgetsTheOldestALittleAtATime(backend: StoreBackend) async throws {
        try await backend.withStore { store, _ in
            for second in 0..<4 {
                let at = self.now.advanced(by: .seconds(second))
                try await store.addAudit(AuditRecord(at: at, key: nil, keyName: "ci", action: "PUT", status: 200))
            }
            let before = self.now.advanced(by: .seconds(3))
            var counts: [Int] = []
            for _ in 0..<3 { counts.append(try await store.forgetAudit(before: before, limit: 2)) }
            #expect(counts == [2, 1, 0])
            #expect(try await store.audit(before: nil, limit: 9).map(\.at) == [before])
        }
    }
}
