/// Bytes for secrets and salts, which nobody can foresee.
package enum RandomBytes {
    /// Returns bytes of the system's generator.
    package static func make(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }
}
