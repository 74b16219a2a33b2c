import Crypto
import Foundation
import NIOCore
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushProvider

/// Files that are received in one go, with a hash that is known at their end.
@Suite(.timeLimit(.patience)) struct WholeFileTests {
    private struct Fixture: Sendable {
        let store: SQLiteStore
        let app: Int64
        let folder: FileFolder
        let uploads: UploadService

        init(_ directory: String, maximum: Int = 10_000) async throws {
            self.store = try SQLiteStore(path: "\(directory)/provider.sqlite", masterKey: .fixture(1))
            let bundleID = try #require(Topic(Vectors.bundleID))
            self.app = try await self.store.addApp(bundleID: bundleID, name: nil, now: Vectors.issuedAt).app.id
            self.folder = FileFolder(path: "\(directory)/files")
            var settings = PublishingSettings()
            settings.maximumFile = maximum
            self.uploads = UploadService(
                store: self.store,
                folder: self.folder,
                settings: settings,
                reserved: Budget(.uploadedBytes),
                time: ManualTime(),
                logger: silentLogger
            )
        }

        func receive(_ pieces: [[UInt8]], name: String = "a.zip", error: (any Error)? = nil) async throws -> FileRecord
        {
            let body = AsyncThrowingStream<ByteBuffer, any Error> { continuation in
                for piece in pieces { continuation.yield(ByteBuffer(bytes: piece)) }
                continuation.finish(throwing: error)
            }
            return try await self.uploads.receive(
                NewFile(app: self.app, name: name, contentType: "application/zip"),
                body
            )
        }
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
