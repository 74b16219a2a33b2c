import Foundation
import PushTypes

/// Reads the device tokens of a file, one a line, in pages. Only one page is in memory at a time.
struct TokenPages {
    private let file: FileHandle
    private let pageSize: Int
    private var rest = Data()
    private var isAtEnd = false

    init(path: String, pageSize: Int) throws {
        self.file = try FileHandle(forReadingFrom: URL(filePath: path))
        self.pageSize = pageSize
    }

    /// Returns the next tokens, or `nil` at the end of the file. Lines without a token are skipped.
    mutating func next() throws -> [DeviceToken]? {
        var page: [DeviceToken] = []
        while page.count < self.pageSize, let line = try self.nextLine() {
            if let token = DeviceToken(userInput: line) { page.append(token) }
        }
        return page.isEmpty ? nil : page
    }

    private mutating func nextLine() throws -> String? {
        while true {
            if let end = self.rest.firstIndex(of: UInt8(ascii: "\n")) {
                defer { self.rest = self.rest[(end + 1)...] }
                return String(decoding: self.rest[..<end], as: UTF8.self)
            }
            if self.isAtEnd {
                defer { self.rest = Data() }
                return self.rest.isEmpty ? nil : String(decoding: self.rest, as: UTF8.self)
            }
            let bytes = try self.file.read(upToCount: 64 * 1024) ?? Data()
            self.isAtEnd = bytes.isEmpty
            self.rest = Data(self.rest) + bytes
        }
    }
}
