#if canImport(CryptoKit) || Encryption
#if Encryption
import Crypto
#else
import CryptoKit
#endif
package import Foundation

/// The received bytes of a file, wherever they are stored. Only one download at a time may use them.
package protocol PartialContent: AnyObject, Sendable {
    var count: Int64 { get }
    var sha256: String { get }
    func append(_ bytes: Data) throws(NewsstandError)
    /// Removes all received bytes.
    /// - Throws: ``NewsstandError/storage(_:)`` if they cannot be removed.
    func removeAll() throws(NewsstandError)
}

/// A partial file on disk, beside the location of the complete file and with the extension `part`.
package final class PartialFile: PartialContent {
    private static let piece = 256 * 1024

    private struct State {
        let file: FileHandle
        var hash = SHA256()
        var count: Int64 = 0

        mutating func add(_ bytes: Data) {
            self.hash.update(data: bytes)
            self.count += Int64(bytes.count)
        }
    }

    private let url: URL
    private let state: LockedValue<State>

    /// Opens the partial file of an earlier download, or creates an empty one.
    /// - Throws: ``NewsstandError`` if the file cannot be opened or created.
    package init(beside destination: URL) throws(NewsstandError) {
        self.url = Self.place(beside: destination)
        do {
            if !FileManager.default.fileExists(atPath: self.url.path) {
                try Data().write(to: self.url, options: .withoutOverwriting)
            }
            var state = State(file: try FileHandle(forUpdating: self.url))
            while let bytes = try state.file.read(upToCount: Self.piece), !bytes.isEmpty { state.add(bytes) }
            self.state = LockedValue(state)
        } catch {
            throw NewsstandError(file: error)
        }
    }

    deinit { self.state.withLock { try? $0.file.close() } }

    package static func place(beside destination: URL) -> URL { destination.appendingPathExtension("part") }

    package var count: Int64 { self.state.withLock { $0.count } }

    package var sha256: String { self.state.withLock { $0.hash.finalize() }.hexadecimal }

    package func append(_ bytes: Data) throws(NewsstandError) {
        try self.change { state in
            try state.file.write(contentsOf: bytes)
            state.add(bytes)
        }
    }

    package func removeAll() throws(NewsstandError) {
        try self.change { state in
            try state.file.truncate(atOffset: 0)
            (state.hash, state.count) = (SHA256(), 0)
        }
    }

    /// Moves the partial file to the location of the complete file. An existing file is replaced.
    /// - Throws: ``NewsstandError`` if the file cannot be moved.
    package func place(at destination: URL) throws(NewsstandError) {
        try self.change { state in
            try state.file.synchronize()
            if FileManager.default.fileExists(atPath: destination.path) {
                try FileManager.default.removeItem(at: destination)
            }
            try FileManager.default.moveItem(at: self.url, to: destination)
        }
    }

    private func change(_ body: (inout State) throws -> Void) throws(NewsstandError) {
        do {
            try self.state.withLock(body)
        } catch {
            throw NewsstandError(file: error)
        }
    }
}
#endif
