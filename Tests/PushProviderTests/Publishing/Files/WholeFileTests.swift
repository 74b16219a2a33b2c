import Crypto
import Foundation
import NIOCore
import ProviderModel
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Synchronization
import Testing

@testable import PushProvider

/// Files that are received in one go, with a hash that is known at their end.
@Suite(.timeLimit(.patience)) struct WholeFileTests {
    private struct Fixture: Sendable {
        let store: SQLStore
        let app: Int64
        let folder: FileFolder
        let uploads: UploadService

        /// - Parameters:
        ///   - room: The bytes that the disk has room for; `nil` for those of this one.
        ///   - quota: The maximum bytes of an app; 0 for no limit.
        ///   - files: The maximum number of its files.
        init(
            _ directory: String,
            maximum: Int = 10_000,
            room: Int? = nil,
            quota: Int = 0,
            files: Int = FileRecord.maximumOfApp
        ) async throws {
            self.store = try SQLStore(path: "\(directory)/provider.sqlite", masterKey: .fixture(1))
            let bundleID = try #require(Topic(Vectors.bundleID))
            self.app = try await self.store.addApp(bundleID: bundleID, name: nil, now: Vectors.issuedAt).app.id
            let path = "\(directory)/files"
            self.folder = room.map { FileFolder(path: path, room: $0) } ?? FileFolder(path: path)
            var settings = PublishingSettings()
            (settings.maximumFile, settings.quota, settings.maximumFiles) = (maximum, quota, files)
            self.uploads = UploadService(
                store: self.store,
                folder: self.folder,
                settings: settings,
                budgets: BudgetRegistry(),
                time: ManualTime(),
                logger: silentLogger
            )
        }

        /// - Parameter app: `nil` for the one that there is.
        func receive(
            _ pieces: [[UInt8]],
            name: String = "a.zip",
            announced: Int? = nil,
            app: Int64? = nil,
            error: (any Error)? = nil
        ) async throws -> FileRecord {
            let body = AsyncThrowingStream<ByteBuffer, any Error> { continuation in
                for piece in pieces { continuation.yield(ByteBuffer(bytes: piece)) }
                continuation.finish(throwing: error)
            }
            let file = NewFile(
                app: app ?? self.app,
                name: name,
                contentType: "application/zip",
                announcedSize: announced
            )
            return try await self.uploads.receive(file, body)
        }

        /// Begins to send a file whose length was not announced, and returns once its first bytes are on the disk, or refused.
        func begin(_ count: Int) async throws -> OpenUpload {
            let (bytes, end) = AsyncThrowingStream.makeStream(of: ByteBuffer.self)
            let (kept, upload) = (self.uploads.room.kept(app: self.app), OpenUpload(end: end))
            let file = NewFile(app: self.app, name: "a.zip", contentType: "application/zip")
            Task {
                do {
                    upload.result.resolve(.success(try await self.uploads.receive(file, bytes)))
                } catch {
                    upload.isRefused.withLock { $0 = true }
                    upload.result.resolve(.failure(error))
                }
            }
            for piece in WholeFileTests.pieces(count) { end.yield(ByteBuffer(bytes: piece)) }
            try await eventually {
                upload.isRefused.withLock { $0 } || self.uploads.room.kept(app: self.app) >= kept + count
            }
            return upload
        }
    }

    /// A file that is being sent.
    private final class OpenUpload: Sendable {
        let end: AsyncThrowingStream<ByteBuffer, any Error>.Continuation
        let result = OneShotValue<FileRecord>()
        let isRefused = Mutex(false)

        init(end: AsyncThrowingStream<ByteBuffer, any Error>.Continuation) { self.end = end }
    }

    /// Returns bytes as a connection sends them: little by little.
    private static func pieces(_ count: Int) -> [[UInt8]] {
        [[UInt8]](repeating: [UInt8](repeating: 1, count: 100), count: count / 100)
    }

    private struct Disconnected: Error {}

    @Test func aFileIsNamedByWhatHasArrived() async throws {
        try await withTemporaryDirectory { directory in
            let fixture = try await Fixture(directory)
            let file = try await fixture.receive([[1, 2], [], [3]])
            #expect(file.hash == ContentHash(SHA256.hash(data: [1, 2, 3])) && file.size == 3 && file.name == "a.zip")
            #expect(try Array(Data(contentsOf: URL(filePath: fixture.folder.path(of: file.hash)))) == [1, 2, 3])
            #expect(try await fixture.receive([[1, 2, 3]], name: "").name == file.hash.hex)
            #expect(fixture.folder.parts() == [])
        }
    }

    @Test func ofABrokenFileNothingIsKept() async throws {
        try await withTemporaryDirectory { directory in
            let fixture = try await Fixture(directory)
            await #expect(throws: Disconnected.self) { try await fixture.receive([[1, 2]], error: Disconnected()) }
            await #expect(throws: RequestError.self) { try await fixture.receive([]) }
            let piece = [UInt8](repeating: 1, count: 6000)
            let error = await #expect(throws: RequestError.self) { try await fixture.receive([piece, piece]) }
            #expect(error?.code == "file_too_large")
            #expect(fixture.folder.parts() == [])
            #expect(try await fixture.store.files(app: fixture.app, after: nil, limit: 10) == [])
            #expect(try await fixture.store.uploads() == [])
        }
    }

    /// Files that an app sends slowly and never ends, of whatever length.
    @Test func filesWithoutAnEndLeaveRoomToAnotherApp() async throws {
        try await withTemporaryDirectory { directory in
            let fixture = try await Fixture(directory, room: 10_000)
            var open: [OpenUpload] = []
            while open.last?.isRefused.withLock({ $0 }) != true, open.count < 20 {
                open.append(try await fixture.begin(1500))
            }
            let refused = await #expect(throws: RetryLaterError.self) { try await open.last?.result.value }
            #expect(refused?.error.code == "too_many_upload_bytes" && refused?.error.kind == .unavailable)
            let bundleID = try #require(Topic("com.example.Other"))
            let other = try await fixture.store.addApp(bundleID: bundleID, name: nil, now: Vectors.issuedAt).app.id
            #expect(try await fixture.receive(Self.pieces(1000), announced: 1000, app: other).size == 1000)
            for upload in open.dropLast() {
                upload.end.finish(throwing: Disconnected())
                await #expect(throws: Disconnected.self) { try await upload.result.value }
            }
            // Nothing of them is left, and they hold nothing.
            #expect(fixture.folder.room() == 9000 && fixture.uploads.room.kept(app: fixture.app) == 0)
            #expect(try await fixture.receive(Self.pieces(5000)).size == 5000)
        }
    }

    /// Those that are being sent count in it together.
    @Test func theQuotaHoldsWhileBytesArrive() async throws {
        try await withTemporaryDirectory { directory in
            let fixture = try await Fixture(directory, quota: 2500)
            let first = try await fixture.begin(1500)
            let refused = await #expect(throws: RequestError.self) {
                try await fixture.receive(Self.pieces(1500), error: Disconnected())
            }
            #expect(refused?.code == "quota_exceeded" && refused?.message.contains("2500 of 2500 bytes") == true)
            let parts = try FileManager.default.contentsOfDirectory(atPath: "\(fixture.folder.path)/uploads")
            #expect(parts.count == 1)
            first.end.finish()
            #expect(try await first.result.value.size == 1500)
            #expect(try await fixture.store.storedBytes(app: fixture.app) == 1500)
        }
    }

    @Test func nothingIsKeptOfAFileBeyondTheMaximum() async throws {
        try await withTemporaryDirectory { directory in
            let fixture = try await Fixture(directory, files: 1)
            let first = try await fixture.receive(Self.pieces(1000))
            let refused = await #expect(throws: RequestError.self) { try await fixture.receive(Self.pieces(1100)) }
            #expect(refused?.code == "too_many_files" && refused?.kind == .conflict)
            #expect(fixture.folder.parts() == [])
            #expect(try await fixture.receive(Self.pieces(1000)).hash == first.hash, "the same again is none more")
        }
    }

    @Test func aFileThatDoesNotFitIsRefusedBeforeItIsSent() async throws {
        try await withTemporaryDirectory { directory in
            let fixture = try await Fixture(directory, room: 4000, quota: 2500)
            let refused = await #expect(throws: RequestError.self) {
                try await fixture.receive([], announced: 2501, error: Disconnected())
            }
            #expect(refused?.code == "quota_exceeded")
        }
        try await withTemporaryDirectory { directory in
            let fixture = try await Fixture(directory, room: 4000)
            await #expect(throws: UploadFailure.full("it has room for 4000 bytes")) {
                try await fixture.receive([], announced: 4001, error: Disconnected())
            }
        }
    }

    @Test func aPartThatIsBeingReceivedIsNotAbandoned() async throws {
        try await withTemporaryDirectory { directory in
            let fixture = try await Fixture(directory)
            let id = UUID()
            try await fixture.folder.whileReceiving(id) {
                try fixture.folder.part(of: id).sync()
                #expect(fixture.folder.parts() == [])
            }
            #expect(fixture.folder.parts() == [id])
        }
    }
}
