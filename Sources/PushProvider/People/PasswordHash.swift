import Crypto
import CryptoExtras
import Foundation

/// A password as it is stored: scrypt (RFC 7914) with its parameters and salt, in one text.
///
/// The text is `$scrypt$ln=15,r=8,p=3$SALT$HASH`, in base64 without padding, as other programs write it.
package struct PasswordHash {
    /// The cost of a hash.
    package struct Parameters: Hashable, Sendable {
        /// The binary logarithm of the number of rounds.
        package var logarithm: Int
        package var blockSize: Int
        package var parallelism: Int

        package init(logarithm: Int, blockSize: Int, parallelism: Int) {
            (self.logarithm, self.blockSize, self.parallelism) = (logarithm, blockSize, parallelism)
        }

        /// One of the equally strong choices of OWASP's *Password Storage Cheat Sheet*: 32 MiB and about a fifth of a
        /// second.
        package static let standard = Parameters(logarithm: 15, blockSize: 8, parallelism: 3)

        /// `true` if a stored text may have these: a damaged one must not take all memory.
        fileprivate var isSensible: Bool {
            (1...20).contains(self.logarithm) && (1...32).contains(self.blockSize)
                && (1...16).contains(self.parallelism)
        }
    }

    /// The bytes of a salt, and of a hash.
    private static let (saltLength, hashLength) = (16, 32)

    let parameters: Parameters
    private let salt: Data
    private let hash: SymmetricKey

    /// Hashes a password with a new salt. It takes the time and memory of the parameters.
    init(_ password: String, _ parameters: Parameters) throws {
        var generator = SystemRandomNumberGenerator()
        let salt = Data((0..<Self.saltLength).map { _ in UInt8.random(in: 0...255, using: &generator) })
        (self.parameters, self.salt) = (parameters, salt)
        self.hash = try Self.derive(password, salt, parameters, length: Self.hashLength)
    }

    /// Reads a stored text; `nil` for what is not one.
    init?(text: String) {
        let parts = text.split(separator: "$", omittingEmptySubsequences: false)
        guard parts.count == 5, parts[0].isEmpty, parts[1] == "scrypt",
            let parameters = Self.parameters(parts[2]), parameters.isSensible,
            let salt = Self.bytes(parts[3]), (8...64).contains(salt.count),
            let hash = Self.bytes(parts[4]), (16...64).contains(hash.count)
        else { return nil }
        (self.parameters, self.salt, self.hash) = (parameters, salt, SymmetricKey(data: hash))
    }

    /// The text to store.
    var text: String {
        let (cost, hash) = (self.parameters, self.hash.withUnsafeBytes { Data($0) })
        let parameters = "ln=\(cost.logarithm),r=\(cost.blockSize),p=\(cost.parallelism)"
        return "$scrypt$\(parameters)$\(Self.text(self.salt))$\(Self.text(hash))"
    }

    /// Returns `true` for the password that was hashed, in the time and memory of the parameters. The comparison takes the
    /// same time for all others.
    func matches(_ password: String) throws -> Bool {
        // `SymmetricKey` compares in constant time.
        try Self.derive(password, self.salt, self.parameters, length: self.hash.bitCount / 8) == self.hash
    }

    private static func derive(
        _ password: String,
        _ salt: Data,
        _ parameters: Parameters,
        length: Int
    ) throws -> SymmetricKey {
        // The same characters may be typed as different code points.
        let normal = Array(password.precomposedStringWithCompatibilityMapping.utf8)
        return try KDF.Scrypt.deriveKey(
            // The library requires bytes; no password is empty or ends with 0.
            from: normal.isEmpty ? [0] : normal,
            salt: salt,
            outputByteCount: length,
            rounds: 1 << parameters.logarithm,
            blockSize: parameters.blockSize,
            parallelism: parameters.parallelism
        )
    }

    private static func parameters(_ text: Substring) -> Parameters? {
        let parts = text.split(separator: ",")
        guard parts.count == 3, let logarithm = Self.number(parts[0], "ln="), let size = Self.number(parts[1], "r="),
            let parallelism = Self.number(parts[2], "p=")
        else { return nil }
        return Parameters(logarithm: logarithm, blockSize: size, parallelism: parallelism)
    }

    private static func number(_ text: Substring, _ name: String) -> Int? {
        text.hasPrefix(name) ? Int(text.dropFirst(name.count)) : nil
    }

    private static func text(_ bytes: Data) -> String {
        bytes.base64EncodedString().replacing("=", with: "")
    }

    private static func bytes(_ text: Substring) -> Data? {
        Data(base64Encoded: text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4))
    }
}
