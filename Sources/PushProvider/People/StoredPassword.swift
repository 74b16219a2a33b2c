import Crypto
import CryptoExtras
import Foundation
import PushTypes

/// The stored form of a password: the HMAC-SHA256 of its scrypt hash (RFC 7914), with parameters and salt, as a string.
///
/// The string is `$scrypt-hmac$ln=15,r=8,p=3$SALT$HASH`, in base64 without padding. The key of the HMAC is a secret
/// outside the database, so that passwords cannot be guessed from the database alone.
package struct StoredPassword {
    /// The cost parameters of a scrypt hash.
    package struct Parameters: Hashable, Sendable {
        /// The binary logarithm of scrypt's cost parameter N (`ln` in the string).
        package var logarithm: Int
        package var blockSize: Int
        package var parallelism: Int

        package init(logarithm: Int, blockSize: Int, parallelism: Int) {
            (self.logarithm, self.blockSize, self.parallelism) = (logarithm, blockSize, parallelism)
        }

        /// The parameters of new hashes, which take 32 MiB and about a fifth of a second. They are one of the
        /// equivalent choices in OWASP's *Password Storage Cheat Sheet*.
        package static let standard = Parameters(logarithm: 15, blockSize: 8, parallelism: 3)

        /// A Boolean value that indicates whether the parameters are plausible, so that a corrupt string cannot exhaust
        /// memory.
        fileprivate var isSensible: Bool {
            (1...20).contains(self.logarithm) && (1...32).contains(self.blockSize)
                && (1...16).contains(self.parallelism) && self.memory <= 128 * 1024 * 1024
        }

        /// The memory that computing a hash requires, in bytes (RFC 7914 section 2).
        private var memory: Int { 128 * self.blockSize << self.logarithm }
    }

    private static let algorithm = "scrypt-hmac"
    /// The length of a salt and of a hash, in bytes.
    private static let (saltLength, hashLength) = (16, 32)

    let parameters: Parameters
    private let salt: Data
    private let hash: Data

    /// Hashes a password with a new salt. It takes the time and memory that the parameters require.
    init(_ password: String, _ parameters: Parameters, secret: String) throws {
        let salt = Data(RandomBytes.make(Self.saltLength))
        (self.parameters, self.salt) = (parameters, salt)
        self.hash = Data(Self.code(of: try Self.derive(password, salt, parameters), secret))
    }

    /// Parses the stored form of a password, or returns `nil` for any other text.
    init?(text: String) {
        let parts = text.split(separator: "$", omittingEmptySubsequences: false)
        guard parts.count == 5, parts[0].isEmpty, parts[1] == Self.algorithm,
            let parameters = Self.parameters(parts[2]), parameters.isSensible,
            let salt = Self.bytes(parts[3]), (8...64).contains(salt.count),
            let hash = Self.bytes(parts[4]), hash.count == Self.hashLength
        else { return nil }
        (self.parameters, self.salt, self.hash) = (parameters, salt, hash)
    }

    var text: String {
        let cost = self.parameters
        let parameters = "ln=\(cost.logarithm),r=\(cost.blockSize),p=\(cost.parallelism)"
        return "$\(Self.algorithm)$\(parameters)$\(Self.text(self.salt))$\(Self.text(self.hash))"
    }

    /// Returns whether a password is the one that was hashed. It takes the time and memory that the parameters require,
    /// and compares in constant time.
    func matches(_ password: String, secret: String) throws -> Bool {
        let derived = try Self.derive(password, self.salt, self.parameters)
        let key = SymmetricKey(data: Data(secret.utf8))
        return derived.withUnsafeBytes { bytes in
            HMAC<SHA256>.isValidAuthenticationCode(self.hash, authenticating: bytes, using: key)
        }
    }

    private static func code(of derived: SymmetricKey, _ secret: String) -> HMAC<SHA256>.MAC {
        let key = SymmetricKey(data: Data(secret.utf8))
        return derived.withUnsafeBytes { HMAC<SHA256>.authenticationCode(for: Data($0), using: key) }
    }

    private static func derive(_ password: String, _ salt: Data, _ parameters: Parameters) throws -> SymmetricKey {
        // The same characters may be typed as different code points.
        let normal = Array(password.precomposedStringWithCompatibilityMapping.utf8)
        return try KDF.Scrypt.deriveKey(
            // The library requires bytes; no password is empty or ends with 0.
            from: normal.isEmpty ? [0] : normal,
            salt: salt,
            outputByteCount: Self.hashLength,
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

    private static func text(_ bytes: Data) -> String { bytes.base64EncodedString().replacing("=", with: "") }

    private static func bytes(_ text: Substring) -> Data? {
        Data(base64Encoded: text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4))
    }
}
