import Fuzzing
import NIOCore
import ProviderModel
import PushSupport

@testable import PushProvider

/// Fuzzes rows of CSV, and registrations as CSV and NDJSON. The first byte of an input selects one.
@main
enum RegistrationFuzz {
    /// The records of a file, and the error of an invalid header row.
    private struct Outcome: Equatable {
        var records: [RegistrationReader.Record] = []
        var refusal: RequestError?
    }

    static func main() {
        Fuzzer.run { input in
            let rest = Array(input.dropFirst())
            switch input.first.map({ $0 % 3 }) {
            case 0: Self.rows(rest)
            case 1: Self.registrations(rest, .csv)
            case nil: break
            default: Self.registrations(rest, .ndjson)
            }
        }
    }

    /// Checks that accepted cells are the same after they were exported and read again.
    private static func rows(_ bytes: [UInt8]) {
        Pieces.expectSame(bytes, Self.read)
        for row in Self.read([ByteBuffer(bytes: bytes)]) {
            guard case .cells(let cells) = row.content else { continue }
            precondition((1...TransferLimits.maximumColumns).contains(cells.count), "\(cells.count) cells")
            let quoted = cells.map {
                "\"\($0.utf8.reduce(into: [UInt8]()) { $0 += $1 == 0x22 ? [0x22, 0x22] : [$1] }.text)\""
            }
            let written = Array((quoted.joined(separator: ",") + "\r\n").utf8)
            guard written.count <= TransferLimits.maximumRecord else { continue }
            let again = Self.read([ByteBuffer(bytes: written)])
            precondition(again.map(\.content) == [row.content], "\(again)\ninstead of \(row)")
        }
    }

    private static func read(_ pieces: [ByteBuffer]) -> [CSVReader.Row] {
        var reader = CSVReader()
        let rows = pieces.flatMap { reader.feed($0.readableBytesView) }
        return rows + (reader.finish().map { [$0] } ?? [])
    }

    /// Checks that each line has at most one record, in order.
    private static func registrations(_ bytes: [UInt8], _ format: TransferFormat) {
        let outcome = { (pieces: [ByteBuffer]) in
            var (reader, outcome) = (RegistrationReader(ImportSource(format)), Outcome())
            do throws(RequestError) {
                for piece in pieces { outcome.records += try reader.feed(piece.readableBytesView) }
                outcome.records += try reader.finish()
            } catch {
                outcome.refusal = error
            }
            return outcome
        }
        Pieces.expectSame(bytes, outcome)
        let lines = outcome([ByteBuffer(bytes: bytes)]).records.map(\.line)
        precondition(zip(lines, lines.dropFirst()).allSatisfy { $0 < $1 }, "not in order: \(lines)")
    }
}

extension [UInt8] {
    fileprivate var text: String { String(decoding: self, as: UTF8.self) }
}
