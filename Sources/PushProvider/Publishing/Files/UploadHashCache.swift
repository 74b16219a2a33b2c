import Crypto
import Foundation
import NIOCore
import ProviderModel
import PushSupport
import Synchronization

/// A cache of the hashes of incomplete uploads. Each hash covers the bytes that the upload's row counts. A hash that is
/// not cached is computed from the part.
///
/// Computing a hash reads the whole part. One hash is computed at a time, piece by piece, and apps take turns, so that
/// the other threads for files are left to downloads.
final class UploadHashCache: Sendable {
    private struct Remembered {
        var hash: IncrementalHash
        let app: Int64
        /// The value of ``State/uses`` at the last use of the hash. The hash with the lowest value is removed first.
        var use: Int
    }

    private struct State {
        var hashes: [UUID: Remembered] = [:]
        var uses = 0

        /// Removes the least recently used hash of the app with the most hashes: the given app if no other has more.
        mutating func makeRoom(for app: Int64) {
            let counts = Dictionary(self.hashes.values.map { ($0.app, 1) }, uniquingKeysWith: +)
            let most = counts.values.max() ?? 0
            let largest = counts[app] == most ? app : counts.first { $0.value == most }?.key
            let oldest = self.hashes.filter { $0.value.app == largest }.min { $0.value.use < $1.value.use }
            if let oldest { self.hashes[oldest.key] = nil }
        }
    }

    /// The budget by which computations take turns. It refuses no request to wait, because one per upload may wait.
    let turns: Budget
    private let maximum: Int
    private let step: Int
    private let state = Mutex(State())

    /// Creates an empty cache of at most `maximum` hashes. After `step` hashed bytes, another app has its turn.
    init(maximum: Int = 256, step: Int = UploadService.step) {
        (self.maximum, self.step) = (maximum, step)
        let turns = BudgetLimits(.init(whole: .held(1)), waiting: .init(), patience: .seconds(3600))
        self.turns = Budget(.uploads, limits: turns)
    }

    /// Returns the cached hash of the first bytes of a part, or `nil` if there is no hash of at most `count` bytes.
    func known(_ upload: UUID, upTo count: Int) -> IncrementalHash? {
        self.state.withLock { $0.hashes[upload]?.hash }.flatMap { $0.count <= count ? $0 : nil }
    }

    /// Caches the hash of the bytes of a part that the upload's row counts.
    func remember(_ hash: IncrementalHash, of upload: UploadRecord) {
        self.state.withLock { state in
            // The number is limited, as a hash can be computed from its part again.
            if state.hashes.count >= self.maximum, state.hashes[upload.id] == nil { state.makeRoom(for: upload.app) }
            state.uses += 1
            state.hashes[upload.id] = Remembered(hash: hash, app: upload.app, use: state.uses)
        }
    }

    func forget(_ upload: UUID) { self.state.withLock { $0.hashes[upload] = nil } }

    /// Returns the hash of the first `count` bytes of a part, all of which the upload's row counts.
    ///
    /// If the computation is interrupted, the hash of the bytes so far is cached.
    /// - Throws: `BudgetRefusal`, `CancellationError`, or ``OpenFile/Failure`` if the part cannot be read.
    func hash(
        of file: OpenFile,
        upTo count: Int,
        of upload: UploadRecord,
        for caller: BudgetCaller
    ) async throws -> IncrementalHash {
        var hash = self.known(upload.id, upTo: count) ?? IncrementalHash()
        guard hash.count < count else { return hash }
        let turn = try await self.turns.wait(for: caller)
        defer { turn.end() }
        while true {
            try Task.checkCancellation()
            let end = min(count, hash.count + self.step)
            hash = try await FileFolder.blocking { [hash] in try hash.adding(file, upTo: end) }
            self.remember(hash, of: upload)
            guard hash.count < count else { return hash }
            try await turn.yield()
        }
    }
}

/// The hash of the first bytes of a file, which can be extended by the bytes that follow.
struct IncrementalHash: Sendable {
    /// The number of bytes that are read at a time.
    private static let piece = 256 * 1024

    private(set) var count = 0
    private var digest = SHA256()

    init() {}

    /// Returns the hash extended by the next bytes of a file, up to the position `end`.
    ///
    /// It blocks its thread.
    /// - Throws: ``OpenFile/Failure`` if the file cannot be read.
    func adding(_ file: OpenFile, upTo end: Int) throws -> IncrementalHash {
        var next = self
        var buffer = ByteBufferAllocator().buffer(capacity: Self.piece)
        while next.count < end {
            buffer.clear()
            let (offset, wanted) = (next.count, min(Self.piece, end - next.count))
            let read = try buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: wanted) {
                try file.read(into: UnsafeMutableRawBufferPointer(rebasing: $0[..<wanted]), at: offset)
            }
            guard read > 0 else { throw UploadFailure.wrongOffset(0) }
            next = next.adding(buffer)
        }
        return next
    }

    func adding(_ buffer: ByteBuffer) -> IncrementalHash {
        var next = self
        buffer.withUnsafeReadableBytes { next.digest.update(bufferPointer: $0) }
        next.count += buffer.readableBytes
        return next
    }

    var value: ContentHash { ContentHash(self.digest.finalize()) }
}
