import Foundation
import PushSupport
import PushTypes

/// Device tokens from the command line or a file, a page at a time.
///
/// Empty lines and lines that begin with `#` are left out. A line that is too long or no token is reported with its
/// number and does not end the run.
struct TokenSource {
    struct Entry {
        /// From 1.
        var line: Int
        var text: String
        /// `nil` where the text is no device token.
        var token: DeviceToken?
    }

    /// Longest line read, in bytes.
    private static let maximumLine = 4096
    private static let chunk = 1 << 16

    private let file: FileHandle?
    private var rest: [UInt8]
    private var line = 0
    private var atEnd: Bool

    init(tokens: [String]) {
        self.file = nil
        self.rest = Array(tokens.map { $0 + "\n" }.joined().utf8)
        self.atEnd = true
    }

    /// - Parameter path: `-` is standard input.
    /// - Throws: ``SettingsError`` for a file that cannot be opened.
    init(file path: String) throws {
        do {
            self.file = path == "-" ? .standardInput : try FileHandle(forReadingFrom: URL(filePath: path))
        } catch {
            throw SettingsError("--tokens: \(path) cannot be read: \(ErrorDescription.of(error))")
        }
        self.rest = []
        self.atEnd = false
    }

    /// How many lines a regular file has; `nil` where that cannot be told before the end.
    static func count(file path: String) -> Int? {
        guard path != "-", Self.isRegularFile(path), let handle = try? FileHandle(forReadingFrom: URL(filePath: path))
        else { return nil }
        defer { try? handle.close() }
        var lines = 0
        while let data = try? handle.read(upToCount: Self.chunk), !data.isEmpty {
            lines += data.count { $0 == UInt8(ascii: "\n") }
        }
        return lines
    }

    /// Reading a pipe to count its lines would take them away.
    private static func isRegularFile(_ path: String) -> Bool {
        let attributes = try? FileManager.default.attributesOfItem(
            atPath: URL(filePath: path).resolvingSymlinksInPath().path
        )
        return attributes?[.type] as? FileAttributeType == .typeRegular
    }

    /// At most `limit` entries; empty at the end.
    mutating func next(_ limit: Int) throws -> [Entry] {
        var entries: [Entry] = []
        var start = 0
        while entries.count < limit {
            guard let end = self.rest[start...].firstIndex(of: UInt8(ascii: "\n")) else {
                self.rest.removeFirst(start)
                start = 0
                if try self.fill() { continue }
                if !self.rest.isEmpty { self.append(self.rest[...], to: &entries) }
                self.rest = []
                return entries
            }
            self.append(self.rest[start..<end], to: &entries)
            start = end + 1
        }
        self.rest.removeFirst(start)
        return entries
    }

    /// Reads on; `false` at the end.
    private mutating func fill() throws -> Bool {
        guard !self.atEnd, let file else { return false }
        guard let data = try file.read(upToCount: Self.chunk), !data.isEmpty else {
            self.atEnd = true
            return false
        }
        // Of a line without end only the start is kept: it is no token.
        if self.rest.count > Self.maximumLine { self.rest.removeLast(self.rest.count - Self.maximumLine) }
        self.rest += data
        return true
    }

    private mutating func append(_ bytes: ArraySlice<UInt8>, to entries: inout [Entry]) {
        self.line += 1
        let text = String(decoding: bytes.prefix(Self.maximumLine), as: UTF8.self)
            .trimmingCharacters(in: .whitespaces.union(.controlCharacters))
        guard !text.isEmpty, !text.hasPrefix("#") else { return }
        entries.append(Entry(line: self.line, text: text, token: DeviceToken(userInput: text)))
    }
}
