/// The record of changes by API key.
package protocol AuditStore: Sendable {
    /// Adds an entry.
    /// - Returns: Its id.
    @discardableResult
    func addAudit(_ entry: AuditRecord) async throws -> Int64
    /// Sets the number of requests that an entry stands for.
    func setAuditCount(_ count: Int, of id: Int64) async throws
    /// Returns a page of the entries that a filter leaves, the newest first, beginning before `before`.
    func audit(_ filter: AuditFilter, before: Int64?, limit: Int) async throws -> ListPage<AuditRecord>
}
