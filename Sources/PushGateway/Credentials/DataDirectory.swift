import Foundation
import PushProtocol

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// The folder that holds all a gateway must remember; only its owner can read it, only one gateway at a time uses it.
struct DataDirectory: ~Copyable {
    let path: String
    private let lock: FolderLock

    /// Creates the folder if there is none, and locks it.
    init(_ path: String) throws {
        do {
            try FileManager.default.createDirectory(
                atPath: path,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        } catch {
            throw GatewayError.badFile(path: path, why: "the folder cannot be made: \(ErrorText.of(error))")
        }
        do {
            self.lock = try FolderLock(folder: path)
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
                throw GatewayError.badFile(path: path, why: "it cannot be read: \(ErrorText.of(error))")
            }
        }
        let content = try make()
        try self.save(name, content)
        return content
    }

    /// Writes atomically: a crash leaves the old file or the new one.
    func save(_ name: String, _ content: Data) throws {
        let path = self.file(name)
        let temporary = "\(path).new"
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
        guard FileManager.default.createFile(atPath: temporary, contents: content, attributes: attributes),
            rename(temporary, path) == 0
        else { throw GatewayError.badFile(path: path, why: "it cannot be written") }
    }
}
