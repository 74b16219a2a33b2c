import Foundation
import PushSupport
import Synchronization

/// The folder of a gateway's files. Only its owner can read it, and only one gateway at a time can use it.
struct DataDirectory: ~Copyable {
    let path: String
    private let lock: DirectoryLock

    /// Creates the folder if it does not exist, makes it private, and locks it. Throws ``GatewayError`` if that fails.
    init(_ path: String) throws {
        guard DurableFile.makePrivateFolder(path) else {
            throw GatewayError.badFile(path: path, why: "the folder cannot be created: \(DurableFile.lastError)")
        }
        do {
            self.lock = try DirectoryLock(folder: path)
        } catch {
            switch error {
            case .taken: throw GatewayError.dataDirectoryInUse(path)
            case .unavailable(let file, let why):
                throw GatewayError.badFile(path: file, why: "it cannot be opened: \(why)")
            }
        }
        self.path = path
    }

    func file(_ name: String) -> String { "\(self.path)/\(name)" }

    /// Returns the contents of a file. If the file does not exist, saves the result of `make` in it and returns that.
    func load(_ name: String, orMake make: () throws -> Data) throws -> Data {
        let path = self.file(name)
        if FileManager.default.fileExists(atPath: path) {
            do {
                return try Data(contentsOf: URL(filePath: path))
            } catch {
                throw GatewayError.badFile(path: path, why: "it cannot be read: \(ErrorDescription.of(error))")
            }
        }
        let content = try make()
        try self.save(name, content)
        return content
    }

    /// Returns the contents of a PEM file, as ``load(_:orMake:)`` does. Adds a final line break if the file has none,
    /// so that files can be concatenated.
    func loadPEM(_ name: String, orMake make: () throws -> String) throws -> String {
        let text = String(decoding: try self.load(name) { Data(PEMText.file(try make()).utf8) }, as: UTF8.self)
        if PEMText.file(text) != text { try self.save(name, Data(PEMText.file(text).utf8)) }
        return PEMText.file(text)
    }

    /// Parses the contents of a file.
    /// - Parameter expected: The description of the expected contents, for the error.
    func parse<Value>(_ name: String, _ expected: String, _ parse: () throws -> Value) throws -> Value {
        do {
            return try parse()
        } catch {
            throw GatewayError.badFile(path: self.file(name), why: "it does not contain \(expected) in PEM")
        }
    }

    /// Writes a file durably, with permissions 0600. A crash or power failure leaves the old or the new contents.
    func save(_ name: String, _ content: Data) throws {
        let path = self.file(name)
        guard DurableFile.replace(path, Array(content)) else {
            throw GatewayError.badFile(path: path, why: "it cannot be written: \(DurableFile.lastError)")
        }
    }
}

/// The data directory of a running gateway, for one caller at a time.
///
/// ``close()`` releases the lock of the folder. Nothing can be written to the folder after that.
final class SharedDataDirectory: Sendable {
    private let directory: Mutex<DataDirectory?>

    init(_ directory: consuming DataDirectory) { self.directory = Mutex(directory) }

    /// Calls `body` with the directory, once no other caller uses it.
    /// - Throws: ``GatewayError/ended`` after ``close()``.
    func use<Value: Sendable>(_ body: (borrowing DataDirectory) throws -> Value) throws -> Value {
        try self.directory.withLock { directory in
            switch directory {
            case .some(let directory): try body(directory)
            case .none: throw GatewayError.ended
            }
        }
    }

    func close() { self.directory.withLock { $0 = nil } }
}
