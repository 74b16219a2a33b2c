import Foundation
import PushSender
import PushSupport

/// Reads files that the user names, where `-` is standard input. All functions throw ``SettingsError`` for a file that
/// cannot be used.
enum InputFile {
    /// Returns the bytes of a file.
    /// - Parameters:
    ///   - option: The option or setting that names the file, for error messages, or `nil` if the messages need none.
    ///   - maximum: The maximum size in bytes, or `nil` for no limit.
    static func data(_ path: String, for option: String? = nil, maximum: Int? = nil) throws -> Data {
        try self.reading(path, for: option) {
            let file = path == "-" ? .standardInput : try FileHandle(forReadingFrom: URL(filePath: path))
            guard let maximum else { return try file.readToEnd() ?? Data() }
            let data = try file.read(upToCount: maximum + 1) ?? Data()
            guard data.count <= maximum else { throw SettingsError("it has more than \(maximum) bytes") }
            return data
        }
    }

    static func text(_ path: String, for option: String? = nil) throws -> String {
        try self.reading(path, for: option) { try String(contentsOfFile: path, encoding: .utf8) }
    }

    static func open(_ path: String, for option: String? = nil) throws -> FileHandle {
        try self.reading(path, for: option) {
            // A folder can be opened, but reading it would fail later.
            guard !self.isDirectory(path) else { throw SettingsError(String(cString: strerror(EISDIR))) }
            return path == "-" ? .standardInput : try FileHandle(forReadingFrom: URL(filePath: path))
        }
    }

    /// Returns the contents of a PEM file with CA certificates.
    /// - Throws: ``SettingsError`` also if the file contains no certificate.
    static func authorities(_ path: String, for option: String) throws -> String {
        let text = try self.text(path, for: option)
        guard PushServiceEndpoint.hasCertificates(text) else {
            throw SettingsError("\(option): \(path) has no certificate in PEM (BEGIN CERTIFICATE)", status: .usage)
        }
        return text
    }

    /// Returns the path unchanged.
    /// - Throws: ``SettingsError`` if it is the path of a folder.
    static func file(_ path: String) throws -> String {
        guard !self.isDirectory(path) else {
            throw SettingsError("\(path) cannot be read: \(String(cString: strerror(EISDIR)))")
        }
        return path
    }

    private static func isDirectory(_ path: String) -> Bool {
        var isDirectory: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) && isDirectory.boolValue
    }

    static func object(_ path: String, for option: String? = nil) throws -> [String: JSONValue] {
        let name = path == "-" ? "standard input" : path
        return try self.object(try self.data(path, for: option), named: option.map { "\($0): \(name)" } ?? name)
    }

    /// Parses a JSON object, and returns its members.
    /// - Parameter name: The source of the data, for error messages.
    static func object(_ data: Data, named name: String) throws -> [String: JSONValue] {
        do {
            guard case .object(let members) = try JSONValue(parsing: data) else {
                throw SettingsError("\(name): this must be a JSON object")
            }
            return members
        } catch let error as RequestError {
            guard let (line, column) = JSONValue.errorPosition(in: data) else {
                throw SettingsError("\(name): \(error.message)")
            }
            throw SettingsError("\(name), line \(line), column \(column): this is not valid JSON in UTF-8")
        }
    }

    /// Returns the size in bytes of a regular file, or `nil` for a pipe or standard input, whose size is unknown.
    static func size(_ path: String) -> Int64? {
        guard path != "-" else { return nil }
        let target = URL(filePath: path).resolvingSymlinksInPath().path
        let attributes = try? FileManager.default.attributesOfItem(atPath: target)
        guard attributes?[.type] as? FileAttributeType == .typeRegular else { return nil }
        return (attributes?[.size] as? NSNumber)?.int64Value
    }

    private static func reading<Value>(_ path: String, for option: String?, _ read: () throws -> Value) throws -> Value
    {
        do {
            return try read()
        } catch {
            let prefix = option.map { "\($0): " } ?? ""
            throw SettingsError("\(prefix)\(path) cannot be read: \(ErrorDescription.of(error))")
        }
    }
}

extension InputFile {
    /// Reads a credential from a file.
    /// - Parameters:
    ///   - passphrase: The passphrase of an archive or an encrypted key, or `nil` if the file has none.
    ///   - teamID: The team id for a `.p8` key.
    ///   - keyID: The key id for a `.p8` key, or `nil` to derive it from the file name.
    ///   - keyFile: The path of the private key, if the file at `path` contains only the certificate, or `nil`
    ///     otherwise.
    /// - Throws: ``SettingsError`` that names the file.
    static func credential(
        _ path: String,
        passphrase: String?,
        teamID: String?,
        keyID: String?,
        keyFile: String?
    ) throws -> PushCredential {
        do {
            return try PushCredential.load(
                file: path,
                passphrase: passphrase,
                teamID: teamID,
                keyID: keyID,
                keyFile: keyFile
            )
        } catch {
            throw SettingsError(error, of: path)
        }
    }
}

extension SettingsError {
    /// Creates an error from a credential's error and the path of the credential's file.
    init(_ error: CredentialError, of path: String) {
        switch error {
        case .unreadableFile, .fileTooLarge: self.init("\(error)")
        case .badTeamID: self.init("\(path): \(error) (--team-id)", status: .usage)
        case .badKeyID: self.init("\(path): \(error) (--key-id)", status: .usage)
        default: self.init("\(path): \(error)")
        }
    }
}
