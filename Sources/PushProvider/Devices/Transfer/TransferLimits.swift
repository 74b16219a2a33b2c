/// The limits on a file of devices.
package enum TransferLimits {
    /// The maximum length of a record, in bytes, including its line end. A longer record is skipped and reported.
    package static let maximumRecord = 64 * 1024
    /// The maximum number of columns of a CSV file: those of the members, and 100 attributes. More are an error.
    package static let maximumColumns = 128
    /// The maximum number of registrations in one transaction, and of devices in one page of an export.
    package static let batch = 1000
    /// The maximum number of errors in a report. Further errors are only counted.
    package static let maximumRefusals = 1000
}
