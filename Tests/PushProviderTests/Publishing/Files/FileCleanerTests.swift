import Crypto
import Foundation
import Logging
import ProviderModel
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushProvider

/// The cleaning of the folder of files.
@Suite(.timeLimit(.patience)) struct FileCleanerTests {
    /// A store and a folder with contents as old as the manual clock.
    private struct Fixture: Sendable {
        let store: SQLStore
        let folder: FileFolder
        let app: Int64
        let time = ManualTime()

        init(_ directory: String) async throws {
            self.store = try SQLStore(path: "\(directory)/provider.sqlite", masterKey: .fixture(1))
            self.folder = FileFolder(path: "\(directory)/files")
            let bundleID = try #require(Topic(Vectors.bundleID))
            self.app = try await self.store.addApp(bundleID: bundleID, name: nil, now: Vectors.issuedAt).app.id
        }

        /// Writes the part of an upload.
        func write(_ byte: UInt8, to upload: UUID) throws {
            let part = try self.folder.part(of: upload)
            try [byte].withUnsafeBytes { try part.write($0, at: 0) }
            try part.sync()
        }

        /// Adds an upload of one byte, and its row.
        func begin(_ byte: UInt8) async throws -> UploadRecord {
            let upload = UploadRecord(
                id: UUID(),
                app: self.app,
                size: 1,
                hash: ContentHash(SHA256.hash(data: [byte])),
                contentType: "application/zip",
                name: "issue.zip",
                createdAt: self.time.now
            )
            #expect(try await self.store.addUpload(upload, quota: nil) == .added)
            try self.write(byte, to: upload.id)
            return upload
        }

        /// Places a content, without a row.
        /// - Parameter isOld: Makes it older than the manual clock is; otherwise it is as new as the test.
        func place(_ byte: UInt8, isOld: Bool = true) throws -> ContentHash {
            let (hash, part) = (ContentHash(SHA256.hash(data: [byte])), UUID())
            try self.write(byte, to: part)
            try self.folder.place(part, as: hash)
            guard isOld else { return hash }
            let modified = Date(timeIntervalSince1970: Double(self.time.now.milliseconds) / 1000 - 1)
            let path = self.folder.path(of: hash)
            try FileManager.default.setAttributes([.modificationDate: modified], ofItemAtPath: path)
            return hash
        }

        func has(_ hash: ContentHash) -> Bool { self.folder.hasContent(hash, size: 1) }

        func cleaner(_ logger: Logger = silentLogger) -> FileCleaner {
            FileCleaner(store: self.store, folder: self.folder, settings: PublishingSettings(), logger: logger)
        }
    }

    @Test func whatNothingRefersToIsRemovedAfterItsTime() async throws {
        try await withTemporaryDirectory { directory in
            let fixture = try await Fixture(directory)
            let unused = try await fixture.begin(7)
            _ = try fixture.place(7)
            fixture.folder.removePart(of: unused.id)
            #expect(try await fixture.store.completeUpload(unused.id, now: fixture.time.now)?.hash == unused.hash)
            let abandoned = try await fixture.begin(8)
            // A crash can leave a content without a row.
            let stray = try fixture.place(9)
            let log = RecordedLog()
            let cleaner = fixture.cleaner(log.logger)
            try await cleaner.clean(now: fixture.time.now)
            #expect(fixture.has(unused.hash) && fixture.has(stray))
            #expect(fixture.folder.parts() == [abandoned.id])
            #expect(log.lines.isEmpty)
            fixture.time.advance(by: .seconds(86_401))
            try await cleaner.clean(now: fixture.time.now)
            #expect(!fixture.has(unused.hash) && !fixture.has(stray))
            #expect(fixture.folder.parts() == [])
            #expect(try await fixture.store.upload(abandoned.id) == nil)
            #expect(log.lines.contains("parts of uploads were removed count=1"))
            #expect(log.lines.contains("files that nothing refers to were removed count=2"))
            #expect(log.lines.contains("file was removed sha256=\(stray.hex.prefix(8))…"))
        }
    }

    /// The database may be another one by mistake, and files may be copied back before it.
    @Test func aFileWithoutARowIsKeptForItsTimeAfterAStart() async throws {
        try await withTemporaryDirectory { directory in
            let fixture = try await Fixture(directory)
            let (old, new) = (try fixture.place(1), try fixture.place(2, isOld: false))
            let part = UUID()
            try fixture.write(3, to: part)
            fixture.time.advance(by: .seconds(10 * 86_400))
            let cleaner = fixture.cleaner()
            try await cleaner.clean(now: fixture.time.now)
            fixture.time.advance(by: .seconds(86_399))
            try await cleaner.clean(now: fixture.time.now)
            #expect(fixture.has(old) && fixture.folder.parts() == [part])
            fixture.time.advance(by: .seconds(2))
            try await cleaner.clean(now: fixture.time.now)
            #expect(!fixture.has(old) && fixture.folder.parts() == [])
            // The manual clock is behind the time at which it was written.
            #expect(fixture.has(new))
        }
    }
}
