import Crypto
package import Foundation
package import MartletKit
import PushSupport
import Synchronization

/// A storage for a reader's state and its downloaded files.
package protocol ReaderStorage: Sendable {
    /// Returns the stored state, or `nil` if none was stored yet.
    /// - Throws: ``PhoneError`` if the state cannot be read.
    func load() throws -> ReaderState?
    /// Stores the state in place of the earlier one.
    /// - Throws: ``PhoneError`` if the state cannot be written.
    func save(_ state: ReaderState) throws
    /// Opens the part of a file that was received so far, or creates an empty part.
    func part(of file: PublishedFile) throws -> any StoredPart
    /// Removes the bytes of an incomplete file that were received so far.
    func removePart(of file: PublishedFile)
}

/// The part of a file that was received so far, in a reader's storage.
package protocol StoredPart: Sendable {
    var content: any PartialContent { get }
    /// Stores the complete file, whose hash has been verified.
    func keep() throws
}

/// The folder of a reader. It contains the state in `reader.json`, and a file for each cover and issue in `files`,
/// named by its SHA-256.
package struct ReaderFolder: ReaderStorage {
    private let path: String

    /// Creates the folder if it is missing.
    /// - Throws: ``PhoneError`` if it cannot be created.
    package init(_ path: String) throws {
        guard DurableFile.makePrivateFolder("\(path)/files") else {
            throw PhoneError("the folder \(path) cannot be made: \(DurableFile.lastError)")
        }
        self.path = path
    }

    private var stateFile: String { "\(self.path)/reader.json" }

    /// Returns the location of a cover or an issue. The file exists there once it is complete.
    package func file(_ file: PublishedFile) -> URL { URL(filePath: "\(self.path)/files/\(file.sha256)") }

    package func load() throws -> ReaderState? {
        guard FileManager.default.fileExists(atPath: self.stateFile) else { return nil }
        do {
            let data = try Data(contentsOf: URL(filePath: self.stateFile))
            return try JSONDecoder().decode(ReaderState.self, from: data)
        } catch {
            let cause = ErrorDescription.of(error)
            throw PhoneError("\(self.stateFile) has no reader (remove it to begin with an empty one): \(cause)")
        }
    }

    package func save(_ state: ReaderState) throws {
        guard let data = try? JSONEncoder().encode(state), DurableFile.replace(self.stateFile, Array(data)) else {
            throw PhoneError("\(self.stateFile) cannot be written: \(DurableFile.lastError)")
        }
    }

    package func part(of file: PublishedFile) throws -> any StoredPart {
        let destination = self.file(file)
        return Part(file: try PartialFile(beside: destination), destination: destination)
    }

    package func removePart(of file: PublishedFile) {
        try? FileManager.default.removeItem(at: PartialFile.place(beside: self.file(file)))
    }

    private struct Part: StoredPart {
        let file: PartialFile
        let destination: URL

        var content: any PartialContent { self.file }

        func keep() throws { try self.file.place(at: self.destination) }
    }
}

/// The in-memory storage of one of many readers. It stores the state, but only the size and the hash of each file.
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

/// A partial file whose bytes are counted and hashed, but not stored.
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
