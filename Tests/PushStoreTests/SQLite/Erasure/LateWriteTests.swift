import Foundation
import ProviderModel
import PushTesting
import PushTypes
import Testing

@testable import PushStore

/// Writes for an app whose erasure came after the look-up of the app, to tables that do not refer to apps.
@Suite(.timeLimit(.patience)) struct LateWriteTests {
    private let now = Vectors.issuedAt

    /// No erasure would visit the rows.
    @Test(arguments: StoreBackend.available)
    func nothingIsWrittenForAnAppThatIsErased(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let publication = PublicationRecord(id: UUID(), app: app, name: "The Example", createdAt: self.now)
            let upload = UploadRecord(
                id: UUID(),
                app: app,
                size: 3,
                hash: try #require(ContentHash(bytes: [UInt8](repeating: 0xab, count: 32))),
                contentType: "application/zip",
                name: "issue.zip",
                createdAt: self.now
            )
            let erasure = try #require(try await store.eraseApp(app, now: self.now, steady: self.now))
            for isGone in [false, true] {
                if isGone { while try await store.continueErasure(erasure, now: self.now) {} }
                for preferences in [Preferences(optOuts: ["a"]), Preferences()] {
                    #expect(try await store.setPreferences(preferences, app: app, user: "alice") == nil)
                }
                #expect(try await !store.setBadge(3, app: app, holder: "user:alice"))
                #expect(try await store.addPublication(publication) == .noApp)
                #expect(try await store.addUpload(upload, quota: nil) == .noApp)
            }
            let sqlite = try #require(store as? SQLStore)
            let left = try await sqlite.database.read { database in
                try ["userPreference", "badge", "publication", "upload"].map {
                    try database.count(sql: "SELECT count(*) FROM \($0)")
                }
            }
            #expect(left == [0, 0, 0, 0])
        }
    }
}
