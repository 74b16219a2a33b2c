/// Decodes strings in the Huffman code of HPACK (RFC 7541 section 5.2 and appendix B). The code is canonical: codes of
/// the same length are ordered by symbol, so that the lengths alone define the code.
struct HuffmanCode: Sendable {
    /// The shared instance, whose tables are computed only once.
    static let shared = HuffmanCode()

    private static let longest = 30
    private static let endOfString = 256

    /// For each value of a byte, the symbol with whose code it begins, and the length of that code in bits, which is 0
    /// if the code is longer than the byte.
    private let short: [(symbol: UInt8, length: UInt8)]
    private let symbols: [UInt16]
    /// For each length of a code, the first code, the number of codes, and the index in ``symbols`` of the first code's
    /// symbol.
    private let levels: [(first: UInt32, count: UInt32, position: Int)]

    private init() {
        let order = Self.lengths.indices.sorted { (Self.lengths[$0], $0) < (Self.lengths[$1], $1) }
        var levels = [(first: UInt32, count: UInt32, position: Int)](repeating: (0, 0, 0), count: Self.longest + 1)
        var short = [(symbol: UInt8, length: UInt8)](repeating: (0, 0), count: 256)
        var code: UInt32 = 0
        var length = 0
        for (position, symbol) in order.enumerated() {
            let next = Int(Self.lengths[symbol])
            code <<= UInt32(next - length)
            length = next
            if levels[length].count == 0 { levels[length] = (code, 0, position) }
            levels[length].count += 1
            if length <= 8 {
                let spare = UInt32(8 - length)
                for tail in 0..<(UInt32(1) << spare) {
                    short[Int(code << spare | tail)] = (UInt8(symbol), UInt8(length))
                }
            }
            code += 1
        }
        self.short = short
        self.symbols = order.map(UInt16.init)
        self.levels = levels
    }

    /// Decodes `bytes` and appends the result to `output`.
    /// - Returns: `true` if the bytes are valid, and `false` for an undefined code, the end-of-string symbol, or
    ///   padding other than up to seven ones.
    func decode(_ bytes: borrowing Span<UInt8>, into output: inout [UInt8]) -> Bool {
        var window: UInt64 = 0
        var held = 0
        var next = 0
        while true {
            while held <= 56, next < bytes.count {
                window |= UInt64(bytes[next]) << UInt64(56 - held)
                held += 8
                next += 1
            }
            let quick = self.short[Int(window >> 56)]
            if quick.length > 0, Int(quick.length) <= held {
                output.append(quick.symbol)
                window <<= UInt64(quick.length)
                held -= Int(quick.length)
                continue
            }
            if held < 8, Self.isPadding(window, bits: held) { return true }
            guard let (symbol, length) = self.long(window, held: held) else { return false }
            output.append(symbol)
            window <<= UInt64(length)
            held -= length
        }
    }

    private static func isPadding(_ window: UInt64, bits: Int) -> Bool {
        bits == 0 || window >> UInt64(64 - bits) == (1 << UInt64(bits)) - 1
    }

    /// Returns the symbol with whose code `window` begins, if the code has more than eight bits, or `nil` if there is
    /// none.
    /// - Parameter held: The number of valid bits in `window`.
    private func long(_ window: UInt64, held: Int) -> (symbol: UInt8, length: Int)? {
        var length = 9
        while length <= Self.longest, length <= held {
            let level = self.levels[length]
            let offset = UInt32(truncatingIfNeeded: window >> UInt64(64 - length)) &- level.first
            if offset < level.count {
                let symbol = Int(self.symbols[level.position + Int(offset)])
                return symbol == Self.endOfString ? nil : (UInt8(truncatingIfNeeded: symbol), length)
            }
            length += 1
        }
        return nil
    }

    /// The length in bits of each symbol's code. The last symbol is the end-of-string symbol (RFC 7541 appendix B).
    // swift-format-ignore
    private static let lengths: [UInt8] = [
        13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
        6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
        13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
        15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
        20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
        22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
        26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
        20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
        30,
    ]
}
