package import Foundation
package import NIOCore
import ProviderModel
package import PushStore
import PushSupport

/// The receipts of a notification as a file, a page at a time.
package struct ReceiptExport: AsyncSequence, Sendable {
    package typealias Element = ByteBuffer

    /// The maximum number of receipts of one page.
    private static let page = 1000
    /// The pause before a page is read again when too many queries wait.
    private static let pause: Duration = .seconds(1)
    private static let header = "deviceId,event,action,source,at,receivedAt\r\n"

    private let store: any ReceiptStore
    private let notification: UUID
    private let format: TransferFormat
    /// The caller of the query, kept because the body is written after the task of the request has ended.
    private let caller: QueryCaller?

    package init(store: any ReceiptStore, notification: UUID, format: TransferFormat) {
        (self.store, self.notification, self.format) = (store, notification, format)
        self.caller = QueryCaller.current?.exporting
    }

    package func makeAsyncIterator() -> Iterator { Iterator(export: self) }

    /// Reads and writes the receipts page by page.
    package struct Iterator: AsyncIteratorProtocol {
        private let export: ReceiptExport
        private var isAtStart = true
        private var isAtEnd = false
        /// The position of the last receipt that was read; `nil` before the first page.
        private var place: ReceiptPlace?

        fileprivate init(export: ReceiptExport) { self.export = export }

        package mutating func next() async throws -> ByteBuffer? {
            if self.isAtStart {
                self.isAtStart = false
                if self.export.format == .csv { return ByteBuffer(string: ReceiptExport.header) }
            }
            // A page may have only receipts that cannot be read, so that the next one follows.
            while !self.isAtEnd {
                let page = try await self.export.page(after: self.place)
                (self.place, self.isAtEnd) = (page.next, page.next == nil)
                if !page.receipts.isEmpty { return ByteBuffer(bytes: self.export.text(page.receipts)) }
            }
            return nil
        }
    }

    private func page(after place: ReceiptPlace?) async throws -> ReceiptPage {
        while true {
            do {
                return try await QueryCaller.$current.withValue(self.caller) {
                    try await self.store.receipts(of: self.notification, after: place, limit: Self.page)
                }
            } catch is BudgetRefusal {
                try await Task.sleep(for: Self.pause, clock: .continuous)
            }
        }
    }

    private func text(_ receipts: [ReceiptRecord]) -> [UInt8] {
        switch self.format {
        case .ndjson:
            var json = JSONWriter()
            for receipt in receipts { Self.append(receipt, to: &json) }
            return json.bytes
        case .csv:
            var text: [UInt8] = []
            for receipt in receipts { Self.append(receipt, to: &text) }
            return text
        }
    }

    private static func append(_ receipt: ReceiptRecord, to json: inout JSONWriter) {
        json.raw(#"{"deviceId":"#)
        json.integer(receipt.device)
        json.raw(#","event":"#)
        json.string(receipt.event.word)
        json.raw(#","action":"#)
        json.string(receipt.action)
        json.raw(#","source":"#)
        json.string(receipt.source.word)
        json.raw(#","at":"#)
        json.string(receipt.at.rfc3339)
        json.raw(#","receivedAt":"#)
        json.string(receipt.receivedAt.rfc3339)
        json.raw("}\n")
    }

    private static func append(_ receipt: ReceiptRecord, to text: inout [UInt8]) {
        // The name of an action is foreign text, which a spreadsheet must not take for a formula.
        let action = receipt.action ?? ""
        let cells = [
            receipt.device.map(String.init) ?? "", receipt.event.word,
            action.first.map("=+-@\t".contains) == true ? "'\(action)" : action, receipt.source.word,
            receipt.at.rfc3339, receipt.receivedAt.rfc3339,
        ]
        for (index, cell) in cells.enumerated() {
            if index > 0 { text.append(UInt8(ascii: ",")) }
            DeviceCSVRow.append(cell, to: &text)
        }
        text += "\r\n".utf8
    }
}
