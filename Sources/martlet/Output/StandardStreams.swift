import Foundation

/// Standard output, for results. Everything is written at once, also into a pipe.
enum StandardOutput {
    /// The function that writes; it returns `false` once the output is closed. Tests replace it.
    @TaskLocal static var write: @Sendable (Data) -> Bool = { data in
        (try? FileHandle.standardOutput.write(contentsOf: data)) != nil
    }

    /// Writes a line. Returns `false` once the output is closed, as after `| head`.
    @discardableResult
    static func line(_ text: String, terminator: String = "\n") -> Bool { self.write(Data((text + terminator).utf8)) }
}

/// Standard error, for everything but results.
enum StandardError {
    static func line(_ text: String) { self.write("\(text)\n") }

    static func write(_ text: String) { try? FileHandle.standardError.write(contentsOf: Data(text.utf8)) }
}
