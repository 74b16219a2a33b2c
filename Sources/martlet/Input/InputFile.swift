import Foundation
import PushSupport

/// Files that commands read for their user; `-` is standard input. All functions throw ``SettingsError``.
enum InputFile {
    /// Returns the bytes of a file.
    /// - Parameter option: The option or setting that names the file, for the error; `nil` if that is clear.
    static func data(_ path: String, for option: String? = nil) throws -> Data {
        try self.reading(path, for: option) {
            path == "-"
                ? try FileHandle.standardInput.readToEnd() ?? Data() : try Data(contentsOf: URL(filePath: path))
        }
    }

    /// Returns the text of a file in UTF-8.
    static func text(_ path: String, for option: String? = nil) throws -> String {
        try self.reading(path, for: option) { try String(contentsOfFile: path, encoding: .utf8) }
    }

    /// Opens a file for reading it in pieces.
    static func open(_ path: String, for option: String? = nil) throws -> FileHandle {
        try self.reading(path, for: option) {
            path == "-" ? .standardInput : try FileHandle(forReadingFrom: URL(filePath: path))
        }
    }

    /// Returns the JSON object in a file.
    static func object(_ path: String, for option: String? = nil) throws -> [String: JSONValue] {
        let name = path == "-" ? "standard input" : path
        return try self.object(try self.data(path, for: option), named: option.map { "\($0): \(name)" } ?? name)
    }

    /// Returns the JSON object in a text.
    /// - Parameter name: The source of the text, for the error.
    static func object(_ data: Data, named name: String) throws -> [String: JSONValue] {
        do {
            guard case .object(let members) = try JSONValue(parsing: data) else {
                throw SettingsError("\(name): this must be a JSON object")
            }
            return members
        } catch let error as RequestError {
            throw SettingsError("\(name): \(error.message)")
        }
    }

    /// Returns the size in bytes of a regular file; `nil` for a pipe or standard input, whose size is not known.
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
