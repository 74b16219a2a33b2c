import Foundation
import NIOCore
import PushSupport
import Synchronization

/// A file that is sent while it is read, with its progress on the terminal.
struct FileUpload: Sendable {
    private static let chunk = 1 << 16

    /// In bytes; `nil` for a pipe.
    let size: Int64?
    let status = StatusLine()
    private let file: FileHandle

    /// - Parameter path: `-` is standard input.
    /// - Throws: ``SettingsError`` for a file that cannot be opened.
    init(path: String) throws {
        do {
            self.file = path == "-" ? .standardInput : try FileHandle(forReadingFrom: URL(filePath: path))
        } catch {
            throw SettingsError("\(path) cannot be read: \(ErrorDescription.of(error))")
        }
        let place = URL(filePath: path).resolvingSymlinksInPath().path
        let attributes = try? FileManager.default.attributesOfItem(atPath: place)
        let isRegular = attributes?[.type] as? FileAttributeType == .typeRegular
        self.size = path != "-" && isRegular ? (attributes?[.size] as? NSNumber)?.int64Value : nil
    }

    /// What is in the file, a piece at a time; can be read once.
    var chunks: AsyncThrowingStream<ByteBuffer, any Error> {
        let start = ContinuousClock.now
        let total = self.size.map { Int(clamping: $0) >> 10 }
        let sent = Mutex(0)
        return AsyncThrowingStream {
            guard let data = try self.file.read(upToCount: Self.chunk), !data.isEmpty else { return nil }
            let bytes = sent.withLock {
                $0 += data.count
                return $0
            }
            let rate = Double(bytes >> 10) / max(0.001, (.now - start) / .seconds(1))
            self.status.show(ProgressText.of(done: bytes >> 10, total: total, rate: rate) + " (KiB)")
            return ByteBuffer(bytes: data)
        }
    }
}
