import ArgumentParser
import Foundation
import PushTypes

/// What `make bench-campaign` needs beside `martlet serve`. Prints lines `figure NAME VALUE UNIT`.
@main
struct CampaignBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Devices, pushes and requests for measuring a provider.",
        subcommands: [Fill.self, Paths.self, Bare.self, Campaign.self, Hostile.self, Ledger.self]
    )
}

/// The app whose devices the campaigns go to.
enum BenchmarkApp {
    static let bundleID = "com.example.MyApp"
    static let teamID = "DEF123GHIJ"
    static let keyID = "ABC123DEFG"

    static var topic: Topic {
        guard let topic = Topic(self.bundleID) else { preconditionFailure("the topic is valid") }
        return topic
    }
}

/// Where the devices' tokens come from: made up, or a file that a gateway's devices have got theirs from.
struct TokenOptions: ParsableArguments {
    @Option(help: "How many devices there are.") var count: Int
    @Option(help: "File with a token in hexadecimal per line; by default the tokens are made up.") var tokens: String?

    /// - Throws: ``BenchmarkFailure`` if the file holds fewer than ``count``.
    func all() throws -> [DeviceToken] {
        guard let tokens = self.tokens else { return (0..<self.count).map(Self.madeUp) }
        let lines = try String(contentsOfFile: tokens, encoding: .utf8).split(separator: "\n").prefix(self.count)
        let known = lines.compactMap { DeviceToken(hex: String($0)) }
        guard known.count == self.count else { throw BenchmarkFailure("\(tokens) has \(known.count) tokens") }
        return known
    }

    /// 32 bytes that look as if they were random; always the same for a number.
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

/// A measurement that could not be made, or in which something was lost.
struct BenchmarkFailure: Error, CustomStringConvertible {
    var description: String

    init(_ description: String) {
        self.description = description
    }
}

/// Prints what the script collects.
func figure(_ name: String, _ value: Double, _ unit: String) {
    print("figure \(name) \(Int(exactly: value).map(String.init) ?? String(value)) \(unit)")
}

/// Tells how far it has got.
func say(_ text: String) {
    FileHandle.standardError.write(Data("\(text)\n".utf8))
}
