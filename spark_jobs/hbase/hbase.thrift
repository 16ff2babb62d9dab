// What the jobs use of HBase's Thrift2 interface: the numbers of fields, the values of the enumerations and the names of the calls
// are HBase's own. Fields that a server sends beyond these are passed over.

struct TTimeRange { 1: required i64 minStamp 2: required i64 maxStamp }
struct TColumn { 1: required binary family 2: optional binary qualifier 3: optional i64 timestamp }
struct TColumnValue { 1: required binary family 2: required binary qualifier 3: required binary value 4: optional i64 timestamp }
struct TResult { 1: optional binary row 2: required list<TColumnValue> columnValues }
struct TGet { 1: required binary row 2: optional list<TColumn> columns }
struct TPut { 1: required binary row 2: required list<TColumnValue> columnValues 3: optional i64 timestamp }
enum TDeleteType { DELETE_COLUMN = 0, DELETE_COLUMNS = 1, DELETE_FAMILY = 2, DELETE_FAMILY_VERSION = 3 }
struct TDelete { 1: required binary row 2: optional list<TColumn> columns 3: optional i64 timestamp 4: optional TDeleteType deleteType = 1 }
struct TScan {
  1: optional binary startRow
  2: optional binary stopRow
  3: optional list<TColumn> columns
  4: optional i32 caching
}
union TMutation { 1: TPut put 2: TDelete deleteSingle }
struct TRowMutations { 1: required binary row 2: required list<TMutation> mutations }
struct THRegionInfo {
  1: required i64 regionId
  2: required binary tableName
  3: optional binary startKey
  4: optional binary endKey
  7: optional i32 replicaId
}
struct TServerName { 1: required string hostName 2: optional i32 port }
struct THRegionLocation { 1: required TServerName serverName 2: required THRegionInfo regionInfo }
enum TCompareOp { LESS = 0, LESS_OR_EQUAL = 1, EQUAL = 2, NOT_EQUAL = 3, GREATER_OR_EQUAL = 4, GREATER = 5, NO_OP = 6 }
struct TTableName { 1: optional binary ns 2: required binary qualifier }
struct TColumnFamilyDescriptor { 1: required binary name 10: optional i32 maxVersions 13: optional i32 timeToLive }
enum TDurability { USE_DEFAULT = 0, SKIP_WAL = 1, ASYNC_WAL = 2, SYNC_WAL = 3, FSYNC_WAL = 4 }
struct TTableDescriptor {
  1: required TTableName tableName
  2: optional list<TColumnFamilyDescriptor> columns
  4: optional TDurability durability
}
struct TNamespaceDescriptor { 1: required string name }

exception TIOError { 1: optional string message 2: optional bool canRetry }
exception TIllegalArgument { 1: optional string message }

service THBaseService {
  list<TResult> getMultiple(1: required binary table 2: required list<TGet> tgets) throws (1: TIOError io)
  void putMultiple(1: required binary table 2: required list<TPut> tputs) throws (1: TIOError io)
  bool checkAndDelete(1: required binary table 2: required binary row 3: required binary family 4: required binary qualifier 5: binary value
    6: required TDelete tdelete) throws (1: TIOError io)
  bool checkAndMutate(1: required binary table 2: required binary row 3: required binary family 4: required binary qualifier
    5: required TCompareOp compareOp 6: binary value 7: required TRowMutations rowMutations) throws (1: TIOError io)
  list<TResult> getScannerResults(1: required binary table 2: required TScan tscan 3: i32 numRows = 1) throws (1: TIOError io)
  list<THRegionLocation> getAllRegionLocations(1: required binary table) throws (1: TIOError io)
  bool tableExists(1: TTableName tableName) throws (1: TIOError io)
  TTableDescriptor getTableDescriptor(1: required TTableName table) throws (1: TIOError io)
  void createTable(1: required TTableDescriptor desc 2: optional list<binary> splitKeys) throws (1: TIOError io)
  list<TNamespaceDescriptor> listNamespaceDescriptors() throws (1: TIOError io)
  void createNamespace(1: required TNamespaceDescriptor namespaceDesc) throws (1: TIOError io)
}
