package import Crypto
import Foundation
import GRDB

/// The SHA-256 of a file's content, by which the file is named.
package struct ContentHash: Hashable, Sendable, CustomStringConvertible {
    /// The length of a hash in bytes.
    package static let length = 32

    package let bytes: [UInt8]

    /// Makes a hash of 32 bytes; `nil` for any other number.
    package init?(bytes: [UInt8]) {
        guard bytes.count == Self.length else { return nil }
        self.bytes = bytes
    }

    package init(_ digest: SHA256.Digest) { self.bytes = Array(digest) }

    /// Reads 64 hexadecimal digits of either case; `nil` for any other text.
    package init?(hex: String) {
        let digits = Array(hex.utf8)
        guard digits.count == 2 * Self.length else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = Self.value(digits[index]), let low = Self.value(digits[index + 1]) else { return nil }
            bytes.append(high << 4 | low)
        }
        self.bytes = bytes
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// The hash as 64 lowercase hexadecimal digits.
    package var hex: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: self.bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    package var description: String { self.hex }

    var databaseValue: DatabaseValue { Data(self.bytes).databaseValue }
}
