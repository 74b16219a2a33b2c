import Foundation
package import PushProtocol
package import PushStore

/// Reads devices from a file that comes in pieces; never holds more of it than a line.
package struct ImportReader {
    package enum Line: Hashable, Sendable {
        case device(DeviceRegistration)
        case refused(ImportRefusal)
    }

    private enum Source {
        case ndjson(LineReader)
        /// The columns are known once the first record has come.
        case csv(CSVReader, CSVColumns?)
    }

    private var source: Source
    /// The first bytes, until it is known whether they are a byte order mark.
    private var start: [UInt8]? = []
    /// Whether nothing that comes can be read: the first line does not say what the columns are.
    package private(set) var isHopeless = false

    package init(_ format: TransferFormat) {
        self.source =
            switch format {
            case .ndjson: .ndjson(LineReader())
            case .csv: .csv(CSVReader(), nil)
            }
    }

    /// What the lines say that end in these bytes.
    package mutating func read(_ bytes: [UInt8]) -> [Line] {
        guard var start = self.start else { return self.take(bytes) }
        start += bytes
        guard start.count >= Self.byteOrderMark.count || !Self.byteOrderMark.starts(with: start) else {
            self.start = start
            return []
        }
        self.start = nil
        return self.take(start.starts(with: Self.byteOrderMark) ? Array(start.dropFirst(3)) : start)
    }

    /// What the last line says, if it has no end.
    package mutating func end() -> [Line] {
        var lines: [Line] = []
        if let start = self.start {
            self.start = nil
            lines = self.take(start)
        }
        switch self.source {
        case .ndjson(var reader):
            reader.end { lines += Self.line($0) }
            self.source = .ndjson(reader)
        case .csv(var reader, var columns):
            reader.end { lines += self.line($0, &columns) }
            self.source = .csv(reader, columns)
        }
        return lines
    }

    /// Of UTF-8 (RFC 3629 section 6).
    private static let byteOrderMark: [UInt8] = [0xef, 0xbb, 0xbf]

    private mutating func take(_ bytes: [UInt8]) -> [Line] {
        guard !self.isHopeless else { return [] }
        var lines: [Line] = []
        switch self.source {
        case .ndjson(var reader):
            reader.read(bytes) { lines += Self.line($0) }
            self.source = .ndjson(reader)
        case .csv(var reader, var columns):
            reader.read(bytes) { lines += self.line($0, &columns) }
            self.source = .csv(reader, columns)
        }
        return lines
    }

    private static func line(_ line: LineReader.Line) -> [Line] {
        switch line {
        case .tooLong(let number): return [.refused(.tooLong(number))]
        case .bytes(let number, let bytes):
            // Of white space only.
            guard bytes.contains(where: { $0 > UInt8(ascii: " ") }) else { return [] }
            do throws(APIRefusal) {
                return [.device(try DeviceRequest.parse(Data(bytes)))]
            } catch {
                return [.refused(ImportRefusal(line: number, error))]
            }
        }
    }

    private mutating func line(_ record: CSVReader.Record, _ columns: inout CSVColumns?) -> [Line] {
        guard !self.isHopeless else { return [] }
        do throws(ImportRefusal) {
            guard let known = columns else {
                columns = try CSVColumns(record)
                return []
            }
            return [.device(try known.registration(record))]
        } catch {
            self.isHopeless = columns == nil
            return [.refused(error)]
        }
    }
}

/// A line that was not taken, and why; without what stands in it.
package struct ImportRefusal: Error, Hashable, Sendable {
    /// Longest message and field, in characters: they may repeat a name from the line.
    private static let maximumText = 200

    /// Where it begins; the first is 1.
    package var line: Int
    package var code: String
    package var message: String
    package var field: String?

    package init(line: Int, code: String, message: String, field: String? = nil) {
        self.line = line
        self.code = code
        self.message = String(message.prefix(Self.maximumText))
        self.field = field.map { String($0.prefix(Self.maximumText)) }
    }

    init(line: Int, _ refusal: APIRefusal) {
        self.init(line: line, code: refusal.code, message: refusal.message, field: refusal.field)
    }

    static func tooLong(_ line: Int) -> ImportRefusal {
        let kilobytes = LineReader.maximumLength / 1024
        return ImportRefusal(line: line, code: "too_long", message: "a line has at most \(kilobytes) kB")
    }

    /// As it is told.
    package var json: JSONValue {
        var members: [String: JSONValue] = [
            "line": .integer(Int64(self.line)), "code": .string(self.code), "message": .string(self.message),
        ]
        if let field = self.field { members["field"] = .string(field) }
        return .object(members)
    }
}
