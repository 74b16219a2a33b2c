import Foundation
import ProviderModel
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

/// The contract of every ``PublishingStore`` and ``FileStore``.
@Suite(.timeLimit(.patience)) struct PublishingStoreContract: StoreContract {
    /// Adds a publication.
    private func publication(
        _ store: any ProviderStore,
        _ app: Int64,
        account: String? = nil
    ) async throws -> PublicationRecord {
        let record = PublicationRecord(id: UUID(), app: app, name: "The Example", account: account, createdAt: self.now)
        #expect(try await store.addPublication(record) == .added)
        return record
    }

    /// Adds a draft.
    private func issue(
        _ store: any ProviderStore,
        _ publication: PublicationRecord,
        _ number: Int,
        date: String = "2026-11-20"
    ) async throws -> IssueRecord {
        let issue = IssueRecord(
            id: UUID(),
            app: publication.app,
            publication: publication.id,
            productID: "com.example.issue\(number)",
            title: "Issue \(number)",
            date: try #require(CivilDate(date)),
            access: .free,
            createdAt: self.now
        )
        return try #require(try await store.addIssue(issue).record)
    }

    /// Adds a complete file.
    private func file(_ store: any ProviderStore, _ app: Int64, _ byte: UInt8) async throws -> ContentHash {
        let hash = try #require(ContentHash(bytes: Array(repeating: byte, count: 32)))
        let upload = UploadRecord(
            id: UUID(),
            app: app,
            size: 10,
            hash: hash,
            contentType: "application/zip",
            name: "issue.zip",
            createdAt: self.now
        )
        #expect(try await store.addUpload(upload, quota: nil) == .added)
        #expect(try await store.completeUpload(upload.id, now: self.now)?.hash == hash)
        return hash
    }

    private func set(
        _ state: IssueState,
        _ issue: IssueRecord,
        _ store: any ProviderStore
    ) async throws -> IssueChangeResult {
        var changes = IssueChanges()
        changes.state = state
        return try await store.changeIssue(issue.id, changes, now: self.later)
    }

    @Test(arguments: StoreBackend.available)
    func aPublicationKeepsWhatIsNotChanged(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let publication = try await self.publication(store, app, account: "A-1")
            var changes = PublicationChanges()
            (changes.name, changes.maximumDownloads) = ("Another", .set(40))
            let changed = try #require(try await store.changePublication(publication.id, changes))
            #expect(changed.name == "Another" && changed.account == "A-1" && changed.waves.maximumDownloads == 40)
            #expect(changed.waves.size == NotifyWaves().size && changed.waves.maximumBandwidth == nil)
            #expect(try await store.publications(app: app) == [changed])
            #expect(try await store.publication(publication.id) == changed)
            #expect(try await store.owner(of: .publication(publication.id))?.name == Vectors.bundleID)
            changes = PublicationChanges()
            (changes.account, changes.maximumDownloads) = (.clear, .clear)
            let cleared = try #require(try await store.changePublication(publication.id, changes))
            #expect(cleared.account == nil && cleared.waves.maximumDownloads == nil)
            _ = try await self.issue(store, publication, 1)
            #expect(try await store.deletePublication(publication.id) == .hasIssues)
            #expect(try await store.deletePublication(UUID()) == .missing)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aProductIDBelongsToOneIssueOfItsApp(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let publication = try await self.publication(store, app)
            let first = try await self.issue(store, publication, 1)
            var second = first
            second.id = UUID()
            #expect(try await store.addIssue(second) == .productIDTaken)
            let other = try await self.issue(store, publication, 2)
            var changes = IssueChanges()
            changes.productID = first.productID
            #expect(try await store.changeIssue(other.id, changes, now: self.now) == .productIDTaken)
            changes.productID = "com.example.renamed"
            #expect(
                try await store.changeIssue(other.id, changes, now: self.now).record?.productID == changes.productID
            )
            #expect(try await self.set(.published, other, store).record?.publishedAt == self.later)
            changes.productID = "com.example.again"
            #expect(try await store.changeIssue(other.id, changes, now: self.now) == .wasPublished)
            second.publication = UUID()
            #expect(try await store.addIssue(second) == .missing)
        }
    }

    @Test(arguments: StoreBackend.available)
    func onlyPublishedIssuesAreInTheCatalogueNewestFirst(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let (open, account) = (
                try await self.publication(store, app), try await self.publication(store, app, account: "A")
            )
            let old = try await self.issue(store, open, 1, date: "2026-09-01")
            let new = try await self.issue(store, account, 2, date: "2026-10-01")
            let same = try await self.issue(store, open, 3, date: "2026-10-01")
            let draft = try await self.issue(store, open, 4, date: "2026-11-01")
            let before = try await store.catalogueVersion(app: app)
            for issue in [old, new, same] { _ = try await self.set(.published, issue, store) }
            #expect(try await store.catalogueVersion(app: app) > before)
            func products(_ account: String?, after: IssueCursor? = nil, limit: Int = 10) async throws -> [String] {
                try await store.catalogue(app: app, account: account, after: after, limit: limit).map(\.productID)
            }
            #expect(try await products("A") == [same.productID, new.productID, old.productID])
            #expect(try await products(nil) == [same.productID, old.productID])
            #expect(try await products("B") == [same.productID, old.productID])
            #expect(try await products("A", after: same.cursor, limit: 1) == [new.productID])
            #expect(try await products("A", after: new.cursor) == [old.productID])
            #expect(try await self.set(.withdrawn, draft, store) == .isDraft)
            #expect(try await self.set(.withdrawn, same, store).record?.state == .withdrawn)
            #expect(try await products(nil) == [old.productID])
            #expect(try await store.deleteIssue(old.id, now: self.now) == .isPublished)
            #expect(try await store.deleteIssue(same.id, now: self.now) == .deleted)
            let drafts = try await store.issues(
                publication: open.id,
                state: .draft,
                order: .newest,
                after: nil,
                limit: 10
            )
            #expect(drafts.map(\.id) == [draft.id])
            let all = try await store.issues(publication: open.id, state: nil, order: .newest, after: nil, limit: 10)
            #expect(all.map(\.id) == [draft.id, old.id])
            let oldest = try await store.issues(publication: open.id, state: nil, order: .oldest, after: nil, limit: 1)
            #expect(oldest.map(\.id) == [old.id])
            let rest = try await store.issues(
                publication: open.id,
                state: nil,
                order: .oldest,
                after: oldest[0].cursor,
                limit: 10
            )
            #expect(rest.map(\.id) == [draft.id])
        }
    }

    private static func cover(_ hash: ContentHash, _ type: String = "application/zip") -> CoverFile {
        CoverFile(hash: hash, contentType: type)
    }

    /// However it was uploaded.
    @Test(arguments: StoreBackend.available)
    func aCoverHasTheTypeOfItsContent(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let issue = try await self.issue(store, try await self.publication(store, app), 1)
            let hash = try await self.file(store, app, 1)
            _ = try await store.setCover(of: issue.id, to: Self.cover(hash, "image/png"), now: self.now)
            #expect(try await store.issue(issue.id)?.cover?.contentType == "image/png")
        }
    }

    @Test(arguments: StoreBackend.available)
    func anAppHasAQuotaOfItsFilesAndUploads(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            _ = try await self.file(store, app, 1)
            let used = try await store.storedBytes(app: app)
            #expect(used > 0)
            var upload = UploadRecord(
                id: UUID(),
                app: app,
                size: 100,
                hash: try #require(ContentHash(bytes: [UInt8](repeating: 9, count: 32))),
                contentType: "application/zip",
                name: "large.zip",
                createdAt: self.now
            )
            #expect(try await store.addUpload(upload, quota: used + 99) == .overQuota(used: used))
            #expect(try await store.addUpload(upload, quota: used + 100) == .added)
            #expect(try await store.storedBytes(app: app) == used + 100)
            upload.id = UUID()
            #expect(try await store.addUpload(upload, quota: used + 199) == .overQuota(used: used + 100))
        }
    }

    @Test(arguments: StoreBackend.available)
    func anAppHasAMaximumOfFilesAndUploads(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            _ = try await self.file(store, app, 1)
            func add(_ byte: UInt8, size: Int = 10, files: Int) async throws -> UploadAdditionResult {
                let upload = UploadRecord(
                    id: UUID(),
                    app: app,
                    size: size,
                    hash: try #require(ContentHash(bytes: Array(repeating: byte, count: 32))),
                    contentType: "application/zip",
                    name: "issue.zip",
                    createdAt: self.now
                )
                return try await store.addUpload(upload, quota: nil, files: files)
            }
            #expect(try await add(2, files: 1) == .tooManyFiles)
            #expect(try await add(2, files: 2) == .added)
            #expect(try await add(3, files: 2) == .tooManyFiles, "the one that is not complete may become a file")
            #expect(try await add(1, files: 1) == .added, "it has this file already")
            #expect(try await add(1, size: 11, files: 1) == .added, "it is none more")
            #expect(try await add(3, files: 5) == .added)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aFileThatIsRemovedLeavesItsRoom(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            _ = try await self.file(store, app, 1)
            var upload = UploadRecord(
                id: UUID(),
                app: app,
                size: 10,
                hash: try #require(ContentHash(bytes: [UInt8](repeating: 9, count: 32))),
                contentType: "application/zip",
                name: "next.zip",
                createdAt: self.now
            )
            #expect(try await store.addUpload(upload, quota: 10, files: 9) == .overQuota(used: 10))
            #expect(try await store.addUpload(upload, quota: 20, files: 1) == .tooManyFiles)
            #expect(try await store.forgetFiles(unusedSince: self.later, limit: 10) == 1)
            #expect(try await store.storedBytes(app: app) == 0)
            #expect(try await store.addUpload(upload, quota: 10, files: 1) == .added)
            #expect(try await store.completeUpload(upload.id, now: self.now) != nil)
            #expect(try await store.storedBytes(app: app) == 10, "it counts once")
            upload.id = UUID()
            #expect(try await store.addUpload(upload, quota: 10, files: 1) == .added, "it has this file already")
        }
    }

    /// An app that has a small file cannot begin a large one by its hash.
    @Test(arguments: StoreBackend.available)
    func aFileOfAnotherSizeIsInTheQuota(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let hash = try await self.file(store, app, 1)
            let used = try await store.storedBytes(app: app)
            var upload = UploadRecord(
                id: UUID(),
                app: app,
                size: used,
                hash: hash,
                contentType: "application/zip",
                name: "same.zip",
                createdAt: self.now
            )
            #expect(try await store.addUpload(upload, quota: used) == .added, "it has this file already")
            #expect(try await store.deleteUpload(upload.id))
            (upload.id, upload.size) = (UUID(), 4096)
            #expect(try await store.addUpload(upload, quota: used + 4095) == .overQuota(used: used))
        }
    }

    /// A crash after the commit leaves an issue that was notified of, and one before it none.
    @Test(arguments: StoreBackend.available)
    func aNotificationIsThatOfItsIssueInTheSameTransaction(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let issue = try await self.issue(store, try await self.publication(store, app), 1)
            func accept() async throws -> (UUID, Acceptance?) {
                var notification = try NotificationRecord.fixture(app: app, to: .devices(.everyone))
                notification.state = .scheduled
                let request = AcceptanceRequest(notification, shards: [], issue: issue.id)
                let results = try await store.write(
                    LedgerBatch(requests: [request]),
                    now: self.now,
                    leaseUntil: self.now
                )
                return (notification.id, try results.requests.first?.get().acceptance)
            }
            let (draft, refused) = try await accept()
            #expect(refused == .issueWithdrawn)
            #expect(try await store.notification(draft) == nil)
            var changes = IssueChanges()
            changes.state = .published
            _ = try await store.changeIssue(issue.id, changes, now: self.now)
            let (id, accepted) = try await accept()
            #expect(accepted == .accepted)
            #expect(try await store.issue(issue.id)?.notification == id)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aFileIsUnusedOnceNothingRefersToIt(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let issue = try await self.issue(store, try await self.publication(store, app), 1)
            let (one, other) = (try await self.file(store, app, 1), try await self.file(store, app, 2))
            let size = try #require(ScreenSize("1536x2048"))
            #expect(try await store.file(one, app: app)?.unusedSince == self.now)
            let set = try #require(try await store.setRendition(size, of: issue.id, to: one, now: self.now).record)
            #expect(set.renditions.map(\.screenSize.description) == ["2048x1536"])
            _ = try await store.setCover(of: issue.id, to: Self.cover(one), now: self.now)
            #expect(try await store.file(one, app: app)?.unusedSince == nil)
            // The cover still refers to it.
            _ = try await store.setRendition(size, of: issue.id, to: other, now: self.later)
            #expect(try await store.file(one, app: app)?.unusedSince == nil)
            _ = try await store.setCover(of: issue.id, to: nil, now: self.later)
            #expect(try await store.file(one, app: app)?.unusedSince == self.later)
            #expect(try await store.forgetFiles(unusedSince: self.later, limit: 10) == 0)
            let after = self.later.advanced(by: .seconds(1))
            #expect(try await store.forgetFiles(unusedSince: after, limit: 10) == 1)
            #expect(try await !store.hasFile(one))
            #expect(try await store.hasFile(other))
            #expect(try await store.setCover(of: issue.id, to: Self.cover(one), now: self.now) == .noFile)
            #expect(try await store.deleteIssue(issue.id, now: self.later) == .deleted)
            #expect(try await store.file(other, app: app)?.unusedSince == self.later)
        }
    }

    /// The entity tag of a file is its hash, and says that nothing has changed.
    @Test(arguments: StoreBackend.available)
    func aFileInUseKeepsItsTypeWhenItIsUploadedAgain(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let issue = try await self.issue(store, try await self.publication(store, app), 1)
            let hash = try await self.file(store, app, 1)
            func uploadAgain(_ type: String) async throws -> FileRecord? {
                let upload = UploadRecord(
                    id: UUID(),
                    app: app,
                    size: 10,
                    hash: hash,
                    contentType: type,
                    name: "another.pdf",
                    createdAt: self.later
                )
                #expect(try await store.addUpload(upload, quota: nil) == .added)
                return try await store.completeUpload(upload.id, now: self.later)
            }
            _ = try await store.setCover(of: issue.id, to: Self.cover(hash), now: self.now)
            let used = try #require(try await uploadAgain("application/pdf"))
            #expect(used.contentType == "application/zip" && used.name == "issue.zip" && used.unusedSince == nil)
            _ = try await store.setCover(of: issue.id, to: nil, now: self.now)
            let unused = try #require(try await uploadAgain("application/pdf"))
            #expect(unused.contentType == "application/pdf" && unused.name == "another.pdf")
            #expect(unused.unusedSince == self.later)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aFileIsDownloadableWhileItsIssueIsPublished(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let issue = try await self.issue(store, try await self.publication(store, app), 1)
            let (one, other) = (try await self.file(store, app, 1), try await self.file(store, app, 2))
            let size = try #require(ScreenSize(1024, 768))
            _ = try await store.setRendition(size, of: issue.id, to: one, now: self.now)
            #expect(try await store.downloadable(one, issue: issue.id) == nil, "it is a draft")
            _ = try await self.set(.published, issue, store)
            #expect(try await store.downloadable(one, issue: issue.id)?.file.size == 10)
            #expect(try await store.downloadable(one, issue: issue.id)?.app == app)
            #expect(try await store.downloadable(other, issue: issue.id) == nil)
            #expect(try await store.downloadable(one, issue: UUID()) == nil)
            _ = try await self.set(.withdrawn, issue, store)
            #expect(try await store.downloadable(one, issue: issue.id) == nil)
        }
    }

    @Test(arguments: StoreBackend.available)
    func theRenditionIsThatOfTheScreenOrTheNearestThatIsNotLarger(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let issue = try await self.issue(store, try await self.publication(store, app), 1)
            let file = try await self.file(store, app, 1)
            for size in ["480x320", "1024x768", "2048x1536"] {
                _ = try await store.setRendition(try #require(ScreenSize(size)), of: issue.id, to: file, now: self.now)
            }
            let present = try #require(try await store.issue(app: app, productID: issue.productID))
            func chosen(_ screen: String) throws -> String? {
                present.rendition(for: try #require(ScreenSize(screen)))?.screenSize.description
            }
            #expect(try chosen("1024x768") == "1024x768")
            #expect(try chosen("768x1024") == "1024x768")
            #expect(try chosen("1334x750") == "480x320", "1024x768 is higher than this screen")
            #expect(try chosen("2732x2048") == "2048x1536")
            #expect(try chosen("320x240") == nil)
            _ = try await store.setRendition(try #require(ScreenSize("480x320")), of: issue.id, to: nil, now: self.now)
            #expect(try await store.issue(issue.id)?.renditions.count == 2)
        }
    }

    @Test(arguments: StoreBackend.available)
    func anUploadIsCountedAndForgotten(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let hash = try #require(ContentHash(hex: String(repeating: "aB", count: 32)))
            var upload = UploadRecord(
                id: UUID(),
                app: app,
                size: 10,
                hash: hash,
                contentType: "text/plain",
                name: "a",
                createdAt: self.now
            )
            #expect(try await store.addUpload(upload, quota: nil) == .added)
            #expect(try await store.upload(upload.id) == upload)
            #expect(try await store.noteUpload(upload.id, received: 4, now: self.later))
            (upload.received, upload.changedAt) = (4, self.later)
            #expect(try await store.upload(upload.id) == upload)
            var other = upload
            (other.id, other.changedAt) = (UUID(), self.now)
            #expect(try await store.addUpload(other, quota: nil) == .added)
            #expect(try await store.openUploads(app: app).map(\.id) == [upload.id, other.id])
            #expect(try await store.openUploads(app: app + 1) == [])
            #expect(try await store.completeUpload(other.id, now: self.later) != nil)
            #expect(try await store.openUploads(app: app) == [upload])
            #expect(try await store.deleteUpload(other.id))
            #expect(try await store.forgetFiles(unusedSince: self.later.advanced(by: .seconds(1)), limit: 10) == 1)
            #expect(try await store.forgetUploads(before: self.later, limit: 10) == 0)
            #expect(try await store.uploads() == [upload.id])
            #expect(try await store.forgetUploads(before: self.later.advanced(by: .seconds(1)), limit: 10) == 1)
            #expect(try await store.completeUpload(upload.id, now: self.later) == nil)
            #expect(try await !store.noteUpload(upload.id, received: 5, now: self.later))
            #expect(try await store.files(app: app, after: nil, limit: 10) == [])
        }
    }

    @Test(arguments: StoreBackend.available)
    func theKeyOfAddressesIsMadeOnce(backend: StoreBackend) async throws {
        try await backend.withStore { store, _ in
            let key = try await store.addressKey()
            #expect(key.count == 43)
            #expect(try await store.addressKey() == key)
        }
    }
}

extension IssueChangeResult {
    /// The issue after a change; `nil` if it was not changed.
    fileprivate var record: IssueRecord? { if case .done(let issue) = self { issue } else { nil } }
}
