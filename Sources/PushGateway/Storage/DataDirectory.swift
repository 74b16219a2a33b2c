import Foundation
import PushSupport

/// The folder of a gateway's files. Only its owner can read it, and only one gateway at a time can use it.
struct DataDirectory: ~Copyable {
    let path: String
    private let lock: DirectoryLock

    /// Creates the folder if it does not exist, makes it private, and locks it.
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

    /// Returns the content of a file. If it does not exist, saves and returns the result of `make`.
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

    /// Returns the content of a PEM file likewise. It ends with a line break, so that files can be concatenated. The
    /// break is added to a file without one.
    func loadPEM(_ name: String, orMake make: () throws -> String) throws -> String {
        let text = String(decoding: try self.load(name) { Data(PEMText.file(try make()).utf8) }, as: UTF8.self)
        if PEMText.file(text) != text { try self.save(name, Data(PEMText.file(text).utf8)) }
        return PEMText.file(text)
    }

    /// Parses the content of a file.
    /// - Parameter expected: What the file has to contain, for the error.
    func parse<Value>(_ name: String, _ expected: String, _ parse: () throws -> Value) throws -> Value {
        do {
            return try parse()
        } catch {
            throw GatewayError.badFile(path: self.file(name), why: "it does not contain \(expected) in PEM")
        }
    }

    /// Writes a file durably, with permissions 0600. A crash or a power failure leaves the old content or the new one.
    func save(_ name: String, _ content: Data) throws {
        let path = self.file(name)
        guard DurableFile.replace(path, Array(content)) else {
            throw GatewayError.badFile(path: path, why: "it cannot be written: \(DurableFile.lastError)")
        }
    }
}
