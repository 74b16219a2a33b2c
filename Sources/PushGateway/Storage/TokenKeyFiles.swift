import Foundation
import PushTypes

/// The files of token keys in the data directory: `token.key`, and after rotations `token-2.key`, `token-3.key`, ….
enum TokenKeyFiles {
    /// Returns all keys, oldest first. Creates the first one if there is none.
    static func load(from directory: borrowing DataDirectory) throws -> [[UInt8]] {
        var keys = [try Self.key(Self.file(1), in: directory)]
        while FileManager.default.fileExists(atPath: directory.file(Self.file(keys.count + 1))) {
            keys.append(try Self.key(Self.file(keys.count + 1), in: directory))
        }
        return keys
    }

    /// Creates the next token key.
    /// - Parameter count: The number of existing keys.
    static func makeNext(after count: Int, in directory: borrowing DataDirectory) throws -> [UInt8] {
        try Self.key(Self.file(count + 1), in: directory)
    }

    private static func file(_ number: Int) -> String { number == 1 ? "token.key" : "token-\(number).key" }

    private static func key(_ file: String, in directory: borrowing DataDirectory) throws -> [UInt8] {
        let key = try directory.load(file) { Data(RandomBytes.make(TokenMinter.keyLength)) }
        guard key.count == TokenMinter.keyLength else {
            throw GatewayError.badFile(
                path: directory.file(file),
                why: "a token key has \(TokenMinter.keyLength) bytes, this file has \(key.count)"
            )
        }
        return Array(key)
    }
}
