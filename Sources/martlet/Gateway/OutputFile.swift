import Foundation
import PushSupport

/// Files that commands write for their user. One that is there already stays.
enum OutputFile {
    /// - Parameter isSecret: only the owner can read it.
    static func write(_ content: Data, to path: String, isSecret: Bool) throws {
        guard !FileManager.default.fileExists(atPath: path) else {
            throw SettingsError("\(path) is there already: move it away or name another place with --output")
        }
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: isSecret ? 0o600 : 0o644]
        guard FileManager.default.createFile(atPath: path, contents: content, attributes: attributes) else {
            throw SettingsError("\(path) cannot be written")
        }
    }

    /// Writes PEM, which ends with a line break, so that files can be put one behind the other.
    static func write(pem text: String, to path: String, isSecret: Bool) throws {
        try Self.write(Data(PEMText.file(text).utf8), to: path, isSecret: isSecret)
    }

    static func read(_ path: String) throws -> String {
        do {
            return try String(contentsOfFile: path, encoding: .utf8)
        } catch {
            throw SettingsError("\(path) cannot be read: \(ErrorDescription.of(error))")
        }
    }
}
