package import NIOCore
import PushStore
import PushSupport

/// A file of records, which are read from the store and written a page at a time.
///
/// Each page is a query of its own, so that no database snapshot is kept open for the whole export.
package struct PagedExport<Position: Sendable>: AsyncSequence, Sendable {
    package typealias Element = ByteBuffer

    /// The pause before a page is read again when too many queries wait.
    private static var pause: Duration { .seconds(1) }

    private let header: String?
    /// Returns the text of the page at a position (`nil` for the first page), and the position of the next page (`nil`
    /// after the last one).
    private let page: @Sendable (Position?) async throws -> (text: [UInt8], next: Position?)
    /// The caller to which the queries are charged, kept because the file is written after the request's task.
    private let caller = QueryCaller.current?.exporting

    /// Creates a file. `header` is its header row with the line end, or `nil` for none. `page` returns the text of the
    /// page at a position (`nil` for the first one), and the position of the next page (`nil` after the last one).
    init(header: String?, _ page: @escaping @Sendable (Position?) async throws -> (text: [UInt8], next: Position?)) {
        (self.header, self.page) = (header, page)
    }

    package func makeAsyncIterator() -> Iterator { Iterator(export: self) }

    /// An iterator that reads each page from the store when its bytes are requested.
    package struct Iterator: AsyncIteratorProtocol {
        private let export: PagedExport
        private var isAtStart = true
        private var isAtEnd = false
        private var position: Position?

        fileprivate init(export: PagedExport) { self.export = export }

        package mutating func next() async throws -> ByteBuffer? {
            if self.isAtStart {
                self.isAtStart = false
                if let header = self.export.header { return ByteBuffer(string: header) }
            }
            // A page may have only records that are not exported, so that the next one follows.
            while !self.isAtEnd {
                let page = try await self.export.read(self.position)
                (self.position, self.isAtEnd) = (page.next, page.next == nil)
                if !page.text.isEmpty { return ByteBuffer(bytes: page.text) }
            }
            return nil
        }
    }

    private func read(_ position: Position?) async throws -> (text: [UInt8], next: Position?) {
        while true {
            do {
                return try await QueryCaller.$current.withValue(self.caller) { try await self.page(position) }
            } catch is BudgetRefusal {
                try await Task.sleep(for: Self.pause, clock: .continuous)
            }
        }
    }
}
