import Foundation
import PushSupport

/// The folder that holds all a gateway must remember; only its owner can read it, only one gateway at a time uses it.
struct DataDirectory: ~Copyable {
    let path: String
    private let lock: DirectoryLock

    /// Creates the folder if there is none, closes it to others, and locks it.
    init(_ path: String) throws {
        guard DurableFile.makePrivateFolder(path) else {
            throw GatewayError.badFile(path: path, why: "the folder cannot be made: \(DurableFile.lastError)")
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

    /// The content of file `name`; if there is none, what `make` returns, which is then kept with permissions 0600.
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

    /// The same for PEM, which ends with a line break, so that files can be put one behind the other. A file of an earlier
    /// version gets the break.
    func loadPEM(_ name: String, orMake make: () throws -> String) throws -> String {
        let text = String(decoding: try self.load(name) { Data(PEMText.file(try make()).utf8) }, as: UTF8.self)
        if PEMText.file(text) != text { try self.save(name, Data(PEMText.file(text).utf8)) }
        return PEMText.file(text)
    }

    /// Writes durably, with permissions 0600 from the start: a crash or a power failure leaves the old file or the new one.
    func save(_ name: String, _ content: Data) throws {
        let path = self.file(name)
        guard DurableFile.replace(path, Array(content)) else {
            throw GatewayError.badFile(path: path, why: "it cannot be written: \(DurableFile.lastError)")
        }
    }
}
