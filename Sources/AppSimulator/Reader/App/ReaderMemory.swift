import Crypto
import Foundation
package import MartletKit
import Synchronization

/// The storage of a reader of many: its state, and of its files the number of bytes and their hash.
package final class ReaderMemory: ReaderStorage {
    private struct Kept {
        var state: ReaderState?
        var parts: [String: CountedContent] = [:]
    }

    private let kept = Mutex(Kept())

    package init() {}

    package func load() throws -> ReaderState? { self.kept.withLock { $0.state } }

    package func save(_ state: ReaderState) throws { self.kept.withLock { $0.state = state } }

    package func part(of file: PublishedFile) throws -> any StoredPart {
        let content = self.kept.withLock { kept in
            if let part = kept.parts[file.sha256] { return part }
            let part = CountedContent()
            kept.parts[file.sha256] = part
            return part
        }
        return Part(content: content) { self.removePart(of: file) }
    }

    package func removePart(of file: PublishedFile) {
        self.kept.withLock { _ = $0.parts.removeValue(forKey: file.sha256) }
    }

    private struct Part: StoredPart {
        let content: any PartialContent
        let remove: @Sendable () -> Void

        func keep() throws { self.remove() }
    }
}

/// Bytes that are counted and hashed, and not kept.
private final class CountedContent: PartialContent {
    private let state = Mutex((hash: SHA256(), count: Int64(0)))

    var count: Int64 { self.state.withLock { $0.count } }

    var sha256: String { self.state.withLock { $0.hash.finalize() }.map { String(format: "%02x", $0) }.joined() }

    func append(_ bytes: Data) {
        self.state.withLock { state in
            state.hash.update(data: bytes)
            state.count += Int64(bytes.count)
        }
    }

    func removeAll() { self.state.withLock { $0 = (SHA256(), 0) } }
}
