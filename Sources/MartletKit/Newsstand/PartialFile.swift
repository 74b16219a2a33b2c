#if canImport(CryptoKit) || Encryption
#if Encryption
import Crypto
#else
import CryptoKit
#endif
package import Foundation

/// The part of a file that has arrived. One download at a time uses it.
package protocol PartialContent: AnyObject, Sendable {
    /// The bytes that are there.
    var count: Int64 { get }
    /// The SHA-256 of what is there, in hexadecimal digits.
    var sha256: String { get }
    func append(_ bytes: Data) throws(NewsstandError)
    /// Removes everything that is there.
    func removeAll() throws(NewsstandError)
}

/// The part of a file that has arrived, as a file beside its place, with the extension `part`.
///
/// It is unchecked because one download at a time uses it.
package final class PartialFile: PartialContent, @unchecked Sendable {
    /// The bytes that are read at a time, to hash what an earlier process has left.
    private static let piece = 256 * 1024

    private let url: URL
    private let file: FileHandle
    private var hash = SHA256()
    package private(set) var count: Int64 = 0

    /// Opens what an earlier download has left, or begins with nothing.
    /// - Throws: ``NewsstandError``
    package init(beside destination: URL) throws(NewsstandError) {
        self.url = Self.place(beside: destination)
        do {
            if !FileManager.default.fileExists(atPath: self.url.path) {
                try Data().write(to: self.url, options: .withoutOverwriting)
            }
            self.file = try FileHandle(forUpdating: self.url)
            while let bytes = try self.file.read(upToCount: Self.piece), !bytes.isEmpty { self.add(bytes) }
        } catch {
            throw NewsstandError(file: error)
        }
    }

    deinit { try? self.file.close() }

    /// Returns the place of what has arrived of a file.
    package static func place(beside destination: URL) -> URL { destination.appendingPathExtension("part") }

    package var sha256: String { self.hash.finalize().hexadecimal }

    private func add(_ bytes: Data) {
        self.hash.update(data: bytes)
        self.count += Int64(bytes.count)
    }

    package func append(_ bytes: Data) throws(NewsstandError) {
        do {
            try self.file.write(contentsOf: bytes)
        } catch {
            throw NewsstandError(file: error)
        }
        self.add(bytes)
    }

    package func removeAll() throws(NewsstandError) {
        do {
            try self.file.truncate(atOffset: 0)
        } catch {
            throw NewsstandError(file: error)
        }
        (self.hash, self.count) = (SHA256(), 0)
    }

    /// Makes the part the whole file, in the place of an existing one.
    package func place(at destination: URL) throws(NewsstandError) {
        do {
            try self.file.synchronize()
            if FileManager.default.fileExists(atPath: destination.path) {
                try FileManager.default.removeItem(at: destination)
            }
            try FileManager.default.moveItem(at: self.url, to: destination)
        } catch {
            throw NewsstandError(file: error)
        }
    }
}
#endif
