import ArgumentParser
import Benchmarking
import Foundation
import PushTypes

/// The load of `make bench-campaign` for `martlet serve`. It prints lines `figure NAME VALUE UNIT`.
@main
struct CampaignBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Devices, pushes and requests for measuring a provider.",
        subcommands: [
            Fill.self, Paths.self, Bare.self, Campaign.self, Hostile.self, Ledger.self, Receipts.self, Singles.self,
        ]
    )
}

/// The app of the campaigns.
enum BenchmarkApp {
    static let bundleID = "com.example.MyApp"
    static let teamID = "DEF123GHIJ"
    static let keyID = "ABC123DEFG"

    static var topic: Topic {
        guard let topic = Topic(self.bundleID) else { preconditionFailure("the topic is valid") }
        return topic
    }
}

/// The source of the device tokens: generated ones, or a file with tokens of a gateway.
struct TokenOptions: ParsableArguments {
    @Option(help: "How many devices there are.") var count: Int
    @Option(help: "File with a token in hexadecimal per line; by default the tokens are made up.") var tokens: String?

    /// Returns the tokens, or throws ``BenchmarkFailure`` if the file has fewer than ``count``.
    func all() throws -> [DeviceToken] {
        guard let tokens = self.tokens else { return (0..<self.count).map(Self.madeUp) }
        let lines = try String(contentsOfFile: tokens, encoding: .utf8).split(separator: "\n").prefix(self.count)
        let known = lines.compactMap { DeviceToken(hex: String($0)) }
        guard known.count == self.count else { throw BenchmarkFailure("\(tokens) has \(known.count) tokens") }
        return known
    }

    /// Returns a token of 32 pseudorandom bytes, always the same one for a number.
    static func madeUp(_ number: Int) -> DeviceToken {
        var state = UInt64(truncatingIfNeeded: number) &* 4
        var bytes: [UInt8] = []
        bytes.reserveCapacity(32)
        for _ in 0..<4 {
            state &+= 1
            // The finalizer of SplitMix64.
            var word = state &* 0x9e37_79b9_7f4a_7c15
            word = (word ^ (word >> 30)) &* 0xbf58_476d_1ce4_e5b9
            word = (word ^ (word >> 27)) &* 0x94d0_49bb_1331_11eb
            word ^= word >> 31
            for byte in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(byte * 8))) }
        }
        guard let token = DeviceToken(bytes: bytes) else { preconditionFailure("32 bytes are a token") }
        return token
    }
}

/// Prints the progress.
func say(_ text: String) {
    FileHandle.standardError.write(Data("\(text)\n".utf8))
}
