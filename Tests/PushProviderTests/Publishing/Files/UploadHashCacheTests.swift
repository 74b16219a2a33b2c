import Crypto
import Foundation
import ProviderModel
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushProvider

/// The hashes of parts that are remembered, and those that are computed again.
@Suite(.timeLimit(.patience)) struct UploadHashCacheTests {
    private static let content = (0..<1000).map { UInt8($0 % 251) }

    private static func upload(app: Int64) -> UploadRecord {
        UploadRecord(
            id: UUID(),
            app: app,
            size: Self.content.count,
            hash: ContentHash(SHA256.hash(data: Self.content)),
            contentType: "application/zip",
            name: "issue.zip",
            createdAt: Vectors.issuedAt
        )
    }

    private static func caller(_ app: Int64) -> BudgetCaller { BudgetCaller(app: Topic("com.example.app\(app)")) }

    private static func part(in directory: String) throws -> OpenFile {
        let file = try OpenFile(writing: "\(directory)/part")
        try Self.content.withUnsafeBytes { try file.write($0, at: 0) }
        return file
    }

    /// A long part is read in pieces, between which other apps have their turns.
    @Test func oneIsComputedAtATimeAndAppsTakeTurns() async throws {
        try await withTemporaryDirectory { directory in
            let (hashes, file) = (UploadHashCache(step: 100), try Self.part(in: directory))
            let (turns, long, short) = (hashes.turns, Self.upload(app: 1), Self.upload(app: 2))
            let first = try turns.take(for: Self.caller(3))
            let computing = Task { try await hashes.hash(of: file, upTo: 1000, of: long, for: Self.caller(1)) }
            try await eventually { turns.usage.waiting == 1 }
            let other = Task { try await hashes.hash(of: file, upTo: 100, of: short, for: Self.caller(2)) }
            try await eventually { turns.usage.waiting == 2 }
            let next = Task { try await turns.wait(for: Self.caller(3)) }
            try await eventually { turns.usage.waiting == 3 }
            first.end()
            let last = try await next.value
            #expect(try await other.value.count == 100)
            try await eventually { turns.usage.waiting == 1 }
            #expect(hashes.known(long.id, upTo: 1000)?.count == 100, "it has had one turn, and waits for the next")
            last.end()
            #expect(try await computing.value.value == long.hash)
            #expect(turns.usage == (0, 0))
        }
    }

    /// One that gives up has not read in vain.
    @Test func whatWasComputedIsRemembered() async throws {
        try await withTemporaryDirectory { directory in
            let (hashes, file, upload) = (UploadHashCache(step: 100), try Self.part(in: directory), Self.upload(app: 1))
            let first = try hashes.turns.take(for: Self.caller(3))
            let computing = Task { try await hashes.hash(of: file, upTo: 1000, of: upload, for: Self.caller(1)) }
            try await eventually { hashes.turns.usage.waiting == 1 }
            let next = Task { try await hashes.turns.wait(for: Self.caller(3)) }
            try await eventually { hashes.turns.usage.waiting == 2 }
            first.end()
            let second = try await next.value
            computing.cancel()
            await #expect(throws: CancellationError.self) { try await computing.value }
            #expect(hashes.known(upload.id, upTo: 1000)?.count == 100)
            #expect(hashes.known(upload.id, upTo: 99)?.count == nil, "it has more bytes than are counted")
            second.end()
            #expect(try await hashes.hash(of: file, upTo: 1000, of: upload, for: Self.caller(1)).value == upload.hash)
            // One that is known waits for no turn.
            let held = try hashes.turns.take(for: Self.caller(3))
            #expect(try await hashes.hash(of: file, upTo: 1000, of: upload, for: Self.caller(1)).count == 1000)
            held.end()
        }
    }

    @Test func theAppWithTheMostForgetsItsOldest() {
        let (hashes, small) = (UploadHashCache(maximum: 4), Self.upload(app: 1))
        let large = (0..<3).map { _ in Self.upload(app: 2) }
        func known() -> [Bool] { ([small] + large).map { hashes.known($0.id, upTo: 0) != nil } }
        for upload in [small] + large { hashes.remember(IncrementalHash(), of: upload) }
        #expect(known() == [true, true, true, true])
        hashes.remember(IncrementalHash(), of: Self.upload(app: 2))
        #expect(known() == [true, false, true, true], "its own")
        hashes.remember(IncrementalHash(), of: Self.upload(app: 1))
        #expect(known() == [true, false, false, true], "that of the app with the most")
        hashes.remember(IncrementalHash(), of: Self.upload(app: 1))
        #expect(known() == [false, false, false, true], "both have as many: its own")
    }
}
